"""Memory of an accelerator that a program can have: one reading for the page, the verdicts, `fit` and `predict`."""

from __future__ import annotations

GIB = 2.0**30
GB = 1e9


def card_gib(usable_memory_gib: float | None, hbm_gib: float | None, hbm_gb: float | None) -> float | None:
    """Capacity of an accelerator [GiB]: what the device reports, else its nominal size in the unit that was printed.

    The view `accelerator_capacity` says the same in SQL.

    Parameters
    ----------
    usable_memory_gib
        Total capacity as the device reports it [GiB].
    hbm_gib, hbm_gb
        Nominal size, printed in GiB or in decimal GB; records have one of them.

    Returns
    -------
    float or None
        Capacity [GiB]; None where no size is known.

    Examples
    --------
    >>> card_gib(79.11, None, 80), card_gib(None, 32, None), round(card_gib(None, None, 80), 1)
    (79.11, 32, 74.5)
    """
    if usable_memory_gib is not None:
        return usable_memory_gib
    if hbm_gib is not None:
        return hbm_gib
    return None if hbm_gb is None else hbm_gb * GB / GIB
