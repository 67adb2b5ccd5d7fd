"""Arithmetic between facts, the same for every format: what follows, and what contradicts."""

from math import prod

from etl.importers.facts import Reading


def complete(reading: Reading) -> None:
    """Derive devices, dp, batch and token counts, then compare; contradictions become warnings.

    Called once by the registry after a format module has stated what the file says.
    """
    _moe(reading)
    _devices(reading)
    _batch(reading)
    _tokens(reading)
    _compare(reading)


def attention_defaults(reading: Reading, framework: str) -> None:
    """Query groups and head size of a silent file: one group per head, hidden / heads; none under latent attention."""
    heads, hidden = reading.get("heads"), reading.get("hidden")
    if not heads or reading.architecture.get("mla"):
        return
    reading.default("kv_heads", heads, f"{framework}: kv_heads = heads")
    if hidden and hidden % heads == 0:
        reading.default("head_dim", hidden // heads, f"{framework}: head_dim = hidden / heads")


def _moe(reading: Reading) -> None:
    """A dense model has no expert fields; an expert model that names no shared expert has none."""
    if not reading.get("experts") or reading.get("experts") == 1:
        reading.drop("experts", "experts_per_token", "shared_experts", "moe_ffn_hidden")
    else:
        doubtful = reading.architecture.get("shared_unclear") or reading.extra.get("shared_open")
        if not doubtful:
            reading.default("shared_experts", 0, "no shared expert is named")
    if reading.architecture.get("mla"):
        reading.drop("head_dim", "kv_heads")
    if reading.get("vpp") == 1:
        reading.drop("vpp")


def _model_parallel(reading: Reading) -> int | None:
    """tp*pp*cp, with cp 1 when no key speaks of it; None when tp or pp is not known."""
    tp, pp = reading.get("tp"), reading.get("pp")
    return tp * pp * (reading.get("cp") or 1) if tp and pp else None


def _devices(reading: Reading) -> None:
    ways, devices, dp = _model_parallel(reading), reading.get("accelerators"), reading.get("dp")
    if reading.extra.get("any_devices") or not ways:
        return
    if devices is None and dp:
        reading.derive("accelerators", dp * ways, "dp", "tp", "pp", "cp")
    elif devices is not None and devices < ways:
        label, product = "gpus-below-model-parallel", "tp*pp*cp"
        reading.warn(label, f"{devices} accelerators, {product} = {ways}; the launcher's device count is not the run's")
        reading.drop("dp")
    elif devices is not None and dp is None and devices % ways == 0:
        reading.derive("dp", devices // ways, "accelerators", "tp", "pp", "cp")


def _batch(reading: Reading) -> None:
    micro, dp, steps = reading.get("micro_batch"), reading.get("dp"), reading.extra.get("accumulation")
    if micro and dp and steps and reading.get("global_batch") is None:
        reading.derive("global_batch", micro * steps * dp, "micro_batch", "dp")
    batch, length, tokens = reading.get("global_batch"), reading.get("seq_len"), reading.get("global_batch_tokens")
    if batch and length:
        reading.derive("global_batch_tokens", batch * length, "global_batch", "seq_len")
    elif tokens and length and tokens % length == 0:
        reading.derive("global_batch", tokens // length, "global_batch_tokens", "seq_len")


def _tokens(reading: Reading) -> None:
    """tokens = samples*length, or steps*batch when the batch is constant and the step count is the plan, not a cap."""
    samples, length, steps = reading.extra.get("samples"), reading.get("seq_len"), reading.get("train_steps")
    per_step, batch = reading.get("global_batch_tokens"), reading.get("global_batch")
    steady = not reading.extra.get("ramp") and not reading.extra.get("cap")
    if samples and length:
        reading.derive("tokens", samples * length, "seq_len")
    elif steps and per_step and steady:
        reading.derive("tokens", steps * per_step, "train_steps", "global_batch_tokens")
    if samples and batch and steady and steps is None and samples % batch == 0:
        reading.derive("train_steps", samples // batch, "global_batch")


def _compare(reading: Reading) -> None:
    micro, dp, batch = (reading.get(n) for n in ("micro_batch", "dp", "global_batch"))
    if micro and dp and batch and batch % (micro * dp):
        how = "smaller than" if batch < micro * dp else "no multiple of"
        reading.warn("batch-does-not-fit", f"global batch {batch} is {how} micro_batch*dp = {micro * dp}")
    experts_over, devices, pp = reading.get("ep") or 1, reading.get("accelerators"), reading.get("pp")
    if experts_over > 1 and devices and pp:
        parts = [pp, experts_over, reading.extra.get("etp") or 1]
        if devices % prod(parts):
            reading.warn("ep-does-not-fit", f"{devices} accelerators are not divisible by pp*ep*etp = {prod(parts)}")
