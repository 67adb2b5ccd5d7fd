"""Primus YAML: a module with overrides on top of a model file; `${X:1}` is variable X, else 1."""

from pathlib import PurePosixPath

from etl.importers.facts import Reading
from etl.importers.formats.maxtext import maxtext_keys
from etl.importers.formats.megatron.megatron_args import merged, state_model, state_run
from etl.importers.formats.torchtitan import torchtitan_keys
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map
from etl.importers.tables import truth, warn_repeated, word

NAME = "primus_yaml"
DEEPEST_CHAIN = 20


def detect(document: Document) -> float:
    """`modules.*.overrides` with a framework, or a parameter file that extends another."""
    module = _module(document.tree)
    return 0.95 if module is not None and ("framework" in module or "overrides" in module) else 0.0


def _module(tree: Map) -> Map | None:
    modules = tree.get("modules")
    if not isinstance(modules, Map):
        return None
    return next((m for m in modules.values() if isinstance(m, Map) and ("overrides" in m or "framework" in m)), None)


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one experiment; model and module files beside it lie beneath its overrides."""
    reading = Reading(NAME)
    warn_repeated(reading, document.tree)
    module = _module(resolve(document.tree, colon_default=True).tree) or Map()
    files = [(d.name, resolve(d.tree, colon_default=True).tree) for d in companions if d.kind == "yaml"]
    below = _extended(files, str(module.get("model") or ""))
    overrides = module.get("overrides")
    top = overrides if isinstance(overrides, Map) else Map()
    framework = word(module, "framework")
    if framework == "torchtitan":
        torchtitan_keys.state_run(reading, _deep(*below, top), whole=False)
    elif framework == "maxtext":
        maxtext_keys.state_run(reading, _deep(*below, top))
    else:
        args = merged(*below, top)
        state_run(reading, args)
        beneath = merged(*below)
        if truth(beneath, "multi_latent_attention") and truth(top, "multi_latent_attention") is False:
            line = top.lines.get("multi_latent_attention")
            reading.warn("override-changes-model", f"multi_latent_attention is switched off (line {line})")
        if companions and "num_layers" in args:
            state_model(reading, args, "Primus")
    return reading


def _deep(*trees: Map) -> Map:
    """One tree of several; a later one wins, table by table."""
    made = Map()
    for tree in trees:
        for key, value in tree.items():
            below = made.get(key)
            if isinstance(below, Map) and isinstance(value, Map):
                value = _deep(below, value)
            made.merged.add(key)
            made.put(key, value, tree.lines.get(key, tree.line))
    return made


def _extended(files: list[tuple[str, Map]], first: str) -> list[Map]:
    """Files in the order they build on one another: what a file extends lies beneath it, the named one on top."""
    by_name = dict(files)
    order: list[str] = []

    def lay(name: str, depth: int) -> None:
        key = next((n for n in by_name if n == name or n.endswith(f"_{name}")), None)
        if key is None or key in order or depth > DEEPEST_CHAIN:
            return
        for beneath in _parents(by_name[key]):
            lay(beneath, depth + 1)
        if key not in order:
            order.append(key)

    lay(PurePosixPath(first).name, 0)
    top = list(order)
    for name in by_name:
        lay(name, 0)
    return [by_name[name] for name in [*(n for n in order if n not in top), *top]]


def _parents(tree: Map) -> list[str]:
    hits: list[str] = []
    for key in ("extends", "includes", "bases"):
        value = tree.get(key)
        hits += [PurePosixPath(str(v)).name for v in (value if isinstance(value, list) else [value]) if v]
    return hits
