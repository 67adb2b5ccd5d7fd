"""Commands on single layouts: fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.commands.shared import (
    AsJson,
    accelerator_named,
    front,
    measured,
    model_named,
    print_json,
    refusing,
)

if TYPE_CHECKING:
    from analysis.records.load import Catalogue
    from analysis.whatif.fit import Fit
    from analysis.whatif.sensitivity import Flip
    from schemas.front import Front

app = typer.Typer()
NEEDED = ("accelerators", "seq_len", "global_batch")


@app.command(
    epilog="Example: shardbook fit meta/llama-3.1-405b --accelerator nvidia/h100-sxm-80gb --accelerators 16384"
    " --tp 8 --pp 16 --seq-len 8192 --global-batch 2048 --vs vpp=8"
)
def fit(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="A model (ORG/NAME, or words of it), or the path of a config or launch script.")
    ],
    accelerator: Annotated[str, typer.Option(help="Accelerator: VENDOR/PART, or words of it.")],
    accelerators: Annotated[int | None, typer.Option(min=1, help="Accelerators used.")] = None,
    seq_len: Annotated[int | None, typer.Option(min=1, help="Sequence length [tokens].")] = None,
    global_batch: Annotated[int | None, typer.Option(min=1, help="Sequences per optimizer step.")] = None,
    tp: Annotated[int, typer.Option(min=1, help="Tensor-parallel degree.")] = 1,
    cp: Annotated[int, typer.Option(min=1, help="Context-parallel degree.")] = 1,
    pp: Annotated[int, typer.Option(min=1, help="Pipeline-parallel degree.")] = 1,
    vpp: Annotated[int | None, typer.Option(min=1, help="Virtual stages per pipeline rank.")] = None,
    dp: Annotated[int | None, typer.Option(min=1, help="Data-parallel degree; derived if absent.")] = None,
    ep: Annotated[int | None, typer.Option(min=1, help="Expert-parallel degree.")] = None,
    etp: Annotated[int | None, typer.Option(min=1, help="Expert-tensor-parallel degree.")] = None,
    micro_batch: Annotated[int, typer.Option(min=1, help="Sequences per micro-batch.")] = 1,
    zero_stage: Annotated[int, typer.Option(min=0, max=3, help="ZeRO stage; FSDP is 3.")] = 1,
    precision: Annotated[str, typer.Option(help="bf16, fp16, fp8, mxfp8, nvfp4.")] = "bf16",
    recompute: Annotated[str, typer.Option(help="none, selective, 'selective (mlp,moe_act)', full.")] = "none",
    attention_kernel: Annotated[str, typer.Option(help="flash or unfused.")] = "flash",
    schedule: Annotated[str | None, typer.Option(help="1f1b, interleaved, zb1p, zbv, dualpipe.")] = None,
    stack: Annotated[str | None, typer.Option(help="Software: megatron-core, nanotron, torchtitan, ...")] = None,
    layers_per_stage: Annotated[str | None, typer.Option(help="Uneven split: 7,8*14,7.")] = None,
    tokens: Annotated[float | None, typer.Option(min=1, help="Tokens of the run: adds days, hours and energy.")] = None,
    vs: Annotated[list[str] | None, typer.Option(help="Another layout beside it: field=value,...")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="What decides the verdict; nearest measurements.")] = False,
    as_json: AsJson = False,
) -> None:
    """Does a layout fit, where do its bytes and seconds go? Exit 0 could fit, 1 does not fit, 3 cannot tell.

    A launch script or config gives its layout with the model; what is typed wins.
    """
    from analysis.layout.columns import LAYOUT
    from analysis.whatif.fit import EXIT_CODES

    stated = {name: value for name, value in context.params.items() if name in LAYOUT and value is not None}
    with refusing():
        model, known = model_named(front(context), model)
    with refusing(2):
        stated = _with_file(context, model, known, stated)
        name, fits = _fits(front(context), known, model, stated, vs or [], tokens)
    if explain:
        fits = _explained(front(context), known, fits)
    if as_json:
        shown = [one.as_json() for one in fits]
        print_json(shown if vs else shown[0])
    else:
        _print(name, fits)
    raise typer.Exit(EXIT_CODES[fits[0].verdict])


def _with_file(context: typer.Context, model: str, known: Catalogue, stated: dict[str, Any]) -> dict[str, Any]:
    """The layout as typed, on top of what the file of the model states, on top of the defaults of the options.

    Raises
    ------
    RefusalError
        Something that every layout needs is in neither; the sentence names it.
    """
    from schemas.refusal import RefusalError

    sources = {name: context.get_parameter_source(name) for name in stated}
    typed = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    of_file = {} if model in known.models else front(context).layout(Path(model))
    if typed & {"accelerators", "tp", "cp", "pp"}:
        of_file.pop("dp", None)  # derived again
    layout = stated | {name: value for name, value in of_file.items() if name not in typed}
    missing = [f"--{name.replace('_', '-')}" for name in NEEDED if name not in layout]
    if missing:
        where = "" if model in known.models else f", which {model} does not state"
        raise RefusalError(f"fit needs {', '.join(missing)}{where}")
    return layout


def _fits(
    given: Front, known: Catalogue, model: str, stated: dict[str, Any], vs: list[str], tokens: float | None
) -> tuple[str, list[Fit]]:
    """The model's name, and what is result of the layout and of each change of it."""
    from analysis.whatif import fit as fitting
    from analysis.whatif.completion import parse_change
    from analysis.whatif.csv_table import facts_of_model

    facts = facts_of_model(model, known.models, lambda name: given.architecture(Path(name)))
    changes: list[dict[str, Any]] = [{}, *(parse_change(text) for text in vs)]
    # A changed axis leaves dp to be derived again.
    layouts = [{k: v for k, v in stated.items() if k != "dp" or not change} | change for change in changes]
    for layout in layouts:
        layout["accelerator"] = accelerator_named(known, layout["accelerator"])
    return str(facts.get("name", model)), [fitting.fit(facts, layout, known, tokens) for layout in layouts]


def _explained(given: Front, known: Catalogue, fits: list[Fit]) -> list[Fit]:
    """The layouts with the measurements nearest to each."""
    from dataclasses import replace

    from analysis.layout.table import table_of
    from analysis.whatif.neighbours import nearest

    near = nearest(table_of([one.layout for one in fits]), measured(given), known)
    return [replace(one, nearest=rows, flips=_flips(one, known)) for one, rows in zip(fits, near, strict=True)]


def _flips(one: Fit, known: Catalogue) -> list[Flip]:
    """The inputs on which a verdict hangs; none where there is no verdict."""
    from analysis.whatif.sensitivity import flips

    if one.verdict == "unknown":
        return []
    return flips(one.layout, one.verdict == "could-fit", one.card_gib, known)


def _print(name: str, fits: list[Fit]) -> None:
    import sys

    from rich.console import Console

    from analysis.whatif import terminal

    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 140)
    for part in terminal.sections(name, fits):
        console.print(part)
