"""Open a file of unknown origin safely: bounded size, regular files only, strict UTF-8, nothing executed."""

import ast
import os
import re
import stat
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from etl.importers.problems import ImporterError
from etl.importers.read.json import read_json
from etl.importers.read.toml import read_toml
from etl.importers.read.trees import Map
from etl.importers.read.yaml import read_yaml

LARGEST_FILE = 32 * 1024 * 1024
LARGEST_CODE = 512 * 1024
LONGEST_GUESS = 100_000
KINDS = ("json", "yaml", "toml", "python", "shell", "log")
_SUFFIXES = {
    ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".py": "python", ".sh": "shell",
    ".slurm": "shell",
    ".sbatch": "shell", ".bash": "shell", ".log": "log", ".md": "log", ".out": "log", ".csv": "log",
}  # fmt: skip
_SHELL = re.compile(
    r"\A\s*#!.*\b(?:ba|z|k)?sh\b|^#SBATCH\s|^\s*(?:export\s+)?[A-Za-z_]\w*=(?!=)\S|^\s*source\s+\S", re.M
)
_PYTHON = re.compile(r"^(?:from\s+[\w.]+\s+import\s|import\s+\w|def\s+\w+\(|class\s+\w+|\w+ = )", re.M)
_TOML = re.compile(r"^\[[\w.\-\"]+\]\s*(?:#.*)?$", re.M)
_LOG = re.compile(
    r":::MLLOG|elapsed[ _]time[ _]per[ _]iteration|completed step: \d|\btps: ?[\d,]+ .{0,40}tflops:"
    r"|train_step_timing in s|CurrSamplesPerSec=|\| \d+ tok/s|^\{'loss': ",
    re.M,
)


class Document:
    """One text file with its parsed forms, each made at most once.

    `name` is the file name, `text` the whole text with \\n line ends, `kind` one of json, yaml, toml, python, shell,
    log. `tree` is the mapping of a json, yaml or toml file (see `trees.Map`), `syntax` the ast of a python file; both
    raise ImporterError.
    """

    def __init__(self, path: str, text: str, kind: str | None = None) -> None:
        self.path = path
        self.name = Path(path).name
        self._kind = kind
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The lines; line n of a fact is `lines[n - 1]`."""
        return self.text.split("\n")

    @cached_property
    def kind(self) -> str:
        """The syntax of the text, decided by what is in it; the suffix only breaks ties."""
        if self._kind:
            return self._kind
        head = self.text[:200_000]
        hint = _SUFFIXES.get(Path(self.name).suffix.lower())
        if hint not in {"python", "shell", "json", "toml"} and _LOG.search(self.text, 0, 1_000_000):
            return "log"
        if hint in {"shell", "python"}:
            return hint
        if hint is None and _PYTHON.search(head) and self._parses():
            return "python"
        return _sniff(head, hint)

    def others(self) -> Iterator["Document"]:
        """The same text read as each other kind, for a short file whose name or look misleads."""
        named = _SUFFIXES.get(Path(self.name).suffix.lower())
        # Commands quoted in a data file are not a script; one that begins as a script is.
        data = named in {"json", "yaml", "toml"} and not self.text.startswith("#!")
        if len(self.text) <= LONGEST_GUESS:
            for kind in KINDS:
                if kind != self.kind and not (data and kind in {"python", "shell"}):
                    yield Document(self.path, self.text, kind)

    def _parses(self) -> bool:
        try:
            return bool(self.syntax.body)
        except ImporterError:
            return False

    @cached_property
    def tree(self) -> Map:
        """The mapping at the root of a json, yaml or toml file."""
        readers = {"json": read_json, "toml": read_toml}
        return readers.get(self.kind, read_yaml)(self.text, self.name)

    @cached_property
    def syntax(self) -> ast.Module:
        """The syntax tree of a python file; it is read, never run."""
        if len(self.text) > LARGEST_CODE:
            raise ImporterError(
                f"{self.name} is a program of {len(self.text)} characters; at most {LARGEST_CODE} are read"
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a text that is read, not run
                return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            raise ImporterError(f"{self.name} is no Python source that can be read: {type(e).__name__}") from None

    def comment(self, line: int | None) -> str:
        """The text after # on a line, or an empty string."""
        if line is None or not 0 < line <= len(self.lines):
            return ""
        return self.lines[line - 1].partition("#")[2].strip()


def _sniff(head: str, hint: str | None) -> str:
    first = head.lstrip()[:1]
    if first in {"{", "["} and hint in {None, "json"}:
        return "json"
    if first == "[" and _TOML.search(head) and hint != "yaml":
        return "toml"
    if hint in {"json", "yaml", "toml"}:
        return hint
    if _TOML.search(head) and " = " in head:
        return "toml"
    if head.startswith("#!") or _SHELL.search(head):
        return "shell"
    return "yaml"


def load(path: str) -> Document:
    """Read one file of any origin.

    Raises ImporterError, with one sentence, for a missing or unreadable file, a directory, a device or pipe, a loop of
    links, more than 32 MiB, bytes that are no UTF-8, and NUL bytes.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise ImporterError(f"{path} is not a regular file; pass the config or log itself")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as handle:
            data = handle.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as e:
        reason = getattr(e, "strerror", None)
        if isinstance(e, ImporterError):
            raise
        raise ImporterError(f"{path!r} cannot be opened: {reason or e}") from None
    return Document(path, _text(path, data))


def _text(path: str, data: bytes) -> str:
    if len(data) > LARGEST_FILE:
        raise ImporterError(f"{path} is larger than {LARGEST_FILE // 2**20} MiB; cut the log to its first part")
    if b"\0" in data:
        raise ImporterError(f"{path} holds a NUL byte at offset {data.index(0)}; it is not a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise ImporterError(f"{path} is not UTF-8 at byte {e.start}; convert it first") from None
