"""Assembles pages: templates, a policy that names every script and style by hash, files written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import altair as alt
import vl_convert
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reports.drawing.figure import Figure, Spec
from reports.drawing.theme import DARK, FONT, LIGHT, PAGE, config
from reports.words import code, has_phrase, phrase

VEGA_LITE = "6.4"
_PICTURE_WIDTH = 640
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b1f24"/>'
    '<path d="M3 12h2V8H3zm4 0h2V4H7zm4 0h2V6h-2z" fill="#f0943a"/></svg>'
)


@dataclass
class Pages:
    """Renders templates with what every page shares."""

    build: dict[str, Any]
    environment: Environment = field(init=False)

    def __post_init__(self) -> None:
        loader = ChoiceLoader([PackageLoader("reports", "templates"), PackageLoader("reports", "story")])
        self.environment = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self.environment.globals.update(
            say=phrase, has=has_phrase, code=code, build=self.build, icon=f"data:image/svg+xml,{quote(ICON)}"
        )

    def render(
        self, template: str, *, script: str, style: str, root: str = "", module: bool = False, **context: Any
    ) -> str:
        """One page as text, its policy computed from the very script and style it holds."""
        page = self.environment.get_template(template)
        return page.render(
            policy=policy([script], [style]),
            script=trusted(script),
            style=trusted(style),
            root=root,
            module=module,
            **context,
        )


def policy(scripts: list[str], styles: list[str]) -> str:
    """A Content-Security-Policy that lets in these scripts and styles and nothing else.

    >>> policy([], [""]).split("; ")[1:3]
    ["script-src 'none'", "style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"]
    """
    allowed = {"script-src": scripts, "style-src": styles}
    rules = [f"{name} {' '.join(map(_hash, texts)) or _NONE}" for name, texts in allowed.items()]
    closed = "img-src data:; font-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    return "; ".join(["default-src 'none'", *rules, closed])


_NONE = "'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def trusted(text: str) -> Markup:
    """Text of ours that a template must not escape."""
    return Markup(text)  # noqa: S704  (scripts, styles and escaped JSON made here, never a record's text)


def data_block(value: Any) -> Markup:
    """A value as JSON that no text inside can end: every '<' is escaped.

    >>> print(data_block("</script>"))
    "\\u003c/script>"
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return trusted(text.replace("<", "\\u003c"))


def asset(name: str) -> str:
    """One of our own scripts or styles."""
    return (resources.files("reports") / "assets" / name).read_text(encoding="utf-8")


@cache
def chart_script() -> str:
    """Vega, Vega-Lite, Vega-Embed and our page code as one script."""
    ours = "".join(asset(f"{name}.js") for name in ("prefs", "charts", "find", "save"))
    return str(vl_convert.javascript_bundle(ours, vl_version=VEGA_LITE))


def page_script() -> str:
    """The script of pages without drawings."""
    return f"(() => {{\n{asset('prefs.js')}\nprefs.start();\nprefs.arrive();\n}})();"


def chart_data(figures: list[Figure]) -> Markup:
    """Drawings of a page without their repeated data, the data once, both themes."""
    drawn = [figure for figure in figures if figure.specs]
    datasets = {
        name: rows for figure in drawn for spec in figure.specs.values() for name, rows in spec["datasets"].items()
    }
    specs = {figure.id: {lang: _bare(spec) for lang, spec in figure.specs.items()} for figure in drawn}
    columns = {name: _columns(rows) for name, rows in datasets.items()}
    return data_block({"datasets": columns, "specs": specs, "configs": {"light": config(LIGHT), "dark": config(DARK)}})


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows with the names of their columns written once; the script puts them together again.

    >>> _columns([{"a": 1, "b": None}, {"a": 2, "b": "x"}])
    {'names': ['a', 'b'], 'rows': [[1, None], [2, 'x']]}
    """
    names = list(rows[0]) if rows else []
    return {"names": names, "rows": [[row.get(name) for name in names] for row in rows]}


def _bare(spec: Spec) -> Spec:
    return {key: value for key, value in spec.items() if key != "datasets"}


def picture(spec: Spec, name: str) -> Markup:
    """The still picture of a drawing in the page's own colours, for readers without scripts and the first moment.

    The library counts the ids of clips and gradients up within a process; here each picture counts its own.
    """
    still = {**spec, "width": _PICTURE_WIDTH, "config": config(PAGE)}
    drawn = str(vl_convert.vegalite_to_svg(still, vl_version=VEGA_LITE, allowed_base_urls=[]))
    short = _PLACES.sub(lambda place: _LONG.sub(lambda number: f"{float(number[0]):.1f}", place[0]), drawn)
    short = _shared(short.replace(_FONT, "").replace(' opacity="1"', "").replace(' font-size="11px"', ""), name)
    ids: dict[str, str] = {}
    return trusted(_IDS.sub(lambda found: ids.setdefault(found[0], f"{name}-{len(ids)}"), short))


def _shared(drawn: str, name: str) -> str:
    """Equal marks drawn once and used wherever they stand: half of the bytes of a scatter."""
    marks: dict[str, str] = {}

    def used(found: re.Match[str]) -> str:
        mark = marks.setdefault(found[3], f"{name}-m{len(marks)}")
        return f'<use href="#{mark}" x="{found[1]}" y="{found[2]}"/>'

    short = _SYMBOLS.sub(used, drawn)
    shapes = "".join(f'<path id="{mark}"{rest}/>' for rest, mark in marks.items())
    return short.replace("</svg>", f"<defs>{shapes}</defs></svg>") if marks else short


_FONT = f' font-family="{escape(FONT)}"'
_SYMBOLS = re.compile(
    r'<path transform="translate\(([-\d.]+),([-\d.]+)\)"( d="M[^"]*A[^>]*?| d="M[^"]{0,90}Z"[^>]*?)/>'
)
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_LONG = re.compile(r"\d+\.\d{3,}")
_IDS = re.compile(r'(?<=id=")(?:clip|gradient_)\d+(?=")|(?<=url\(#)(?:clip|gradient_)\d+(?=\))')


def versions() -> dict[str, str]:
    """Versions of the drawing libraries."""
    return {
        "altair": alt.__version__,
        "vegalite": VEGA_LITE,
        "vega": str(vl_convert.get_vega_version()),
        "embed": str(vl_convert.get_vega_embed_version()),
    }


def write(path: Path, content: str | bytes) -> None:
    """Put a whole file in place at once; a killed run leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".unfinished-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
