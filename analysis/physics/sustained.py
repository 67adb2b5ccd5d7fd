"""What a chip sustains: from dense peaks to the rate of large products, limited by measured products and by power."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]


def power_share(power: Number, peak: Number, reference: Number, exponent: Number) -> Array:
    """Share of its sustained rate that a part keeps when it has less power per FLOP/s than its generation's best [1].

    Dynamic power grows with clock times voltage squared, so a part of the same silicon with a lower limit clocks lower:
    ((W / peak) / reference) ** exponent, never above 1. NaN power or reference means no correction.

    Parameters
    ----------
    power
        Design power [W].
    peak
        Dense 16-bit peak [FLOP/s].
    reference
        Power per FLOP/s of the generation's best part [W s/FLOP].
    exponent
        How the clock follows the power [1].

    Returns
    -------
    ndarray
        Share [1].

    Examples
    --------
    >>> round(float(power_share(350.0, 756e12, 700.0 / 989e12, 1.0)), 3)  # H100 PCIe against SXM
    0.654
    """
    ratio = np.asarray(power, dtype=float) / np.asarray(peak, dtype=float) / np.asarray(reference, dtype=float)
    share = np.power(np.minimum(ratio, 1.0), np.asarray(exponent, dtype=float))
    return np.where(np.isnan(ratio), 1.0, share)


def sustained_rate(peak: Number, share: Number, power: Number = 1.0, highest: Number = 1.0) -> Array:
    """Rate of large products in training: peak x share x power, never above `highest` of the peak.

    Parameters
    ----------
    peak
        Dense peak [FLOP/s].
    share
        Share of it that large products sustain [1].
    power
        Share kept by a part with less power, as `power_share` gives [1].
    highest
        Largest share believed [1].

    Returns
    -------
    ndarray
        Rate [FLOP/s].

    Examples
    --------
    >>> float(sustained_rate(989e12, 0.8)) / 1e12
    791.2
    """
    effective = np.minimum(np.asarray(share, dtype=float) * np.asarray(power, dtype=float), highest)
    return np.asarray(np.asarray(peak, dtype=float) * effective)


def measured_share(measured: Number, peak: Number, realised: Number) -> Array:
    """Share of the peak from the largest product measured on the part, times what training realises of it.

    Parameters
    ----------
    measured, peak
        Largest measured product and dense peak [FLOP/s].
    realised
        Share of it that training reaches [1].

    Returns
    -------
    ndarray
        Share [1].

    Examples
    --------
    >>> round(float(measured_share(668.4e12, 1307.4e12, 0.95)), 3)  # MI300X
    0.486
    """
    return np.asarray(np.asarray(measured, dtype=float) / np.asarray(peak, dtype=float) * realised)
