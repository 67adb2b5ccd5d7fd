"""What an importer returns: facts with their origin, and warnings."""

from dataclasses import dataclass, field
from typing import Any

from etl.importers import fields
from etl.importers.problems import ImporterError

__all__ = ["Fact", "ImporterError", "Reading"]

STRENGTH = {"comment": 0, "default": 1, "derived": 2, "stated": 3}


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of a file: what, how it is known (stated, derived, default, comment), the deciding key and its line."""

    value: Any
    origin: str
    key: str | None = None
    line: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The fact as the command prints it."""
        return {"value": self.value, "origin": self.origin, "key": self.key, "line": self.line}


@dataclass(slots=True)
class Reading:
    """Facts of one file (with its companions), built up by a format module.

    `extra` carries what is no fact of its own but decides some: `accumulation` (micro-batches per step), `samples`
    (planned sequences), `etp` (expert tensor parallel size), `ramp` (True when the batch grows or follows a schedule),
    `cap` (True when the step count is an upper bound, so no token count follows), `any_devices` (True when a free axis
    leaves the device count open). `architecture` holds what only the parameter counter needs (see `counting`).
    """

    format: str
    facts: dict[str, Fact] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    architecture: dict[str, Any] = field(default_factory=dict)

    def state(
        self, name: str, raw: Any, key: str | None = None, line: int | None = None, origin: str = "stated"
    ) -> bool:
        """Record what a key says, unless it says nothing (null, auto, unresolved). Returns whether it was recorded.

        A weaker origin never replaces a stronger one; between equals the last one wins.
        """
        value = fields.coerce(name, raw)
        known = self.facts.get(name)
        if value is None or (known is not None and STRENGTH[known.origin] > STRENGTH[origin]):
            return False
        self.facts[name] = Fact(value, origin, key, line)
        return True

    def not_modelled(self, *parts: str) -> None:
        """Name parts of the model that no field describes: a what-if then says so instead of guessing."""
        known = self.architecture.get("not_modelled")
        named = [*([known] if known else []), *parts]
        if named:
            self.architecture["not_modelled"] = ", ".join(dict.fromkeys(named))

    def default(self, name: str, raw: Any, because: str | None = None) -> bool:
        """Record what the framework does when the file is silent; `because` names framework and rule."""
        return name not in self.facts and self.state(name, raw, because, None, "default")

    def derive(self, name: str, raw: Any, *parents: str) -> bool:
        """Record arithmetic on other facts; it is a comment where one of `parents` comes from a comment."""
        weak = any(self.facts[p].origin == "comment" for p in parents if p in self.facts)
        known = self.facts.get(name)
        if known is not None and (known.origin == "stated" or weak):
            return False
        return self.state(name, raw, " ".join(parents) or None, None, "comment" if weak else "derived")

    def remark(self, name: str, raw: Any, key: str | None = None, line: int | None = None) -> bool:
        """Record what only a comment, a file name or a function name says; never replaces anything."""
        return name not in self.facts and self.state(name, raw, key, line, "comment")

    def drop(self, *names: str) -> None:
        """Drop facts that turned out to be wrong."""
        for name in names:
            self.facts.pop(name, None)

    def get(self, name: str) -> Any | None:
        """The value of a fact, or None."""
        known = self.facts.get(name)
        return None if known is None else known.value

    def warn(self, label: str, text: str) -> None:
        """Add a warning that starts with its label, once."""
        sentence = f"{label}: {text}"
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def as_json(self) -> dict[str, Any]:
        """The reading as the command prints it."""
        facts = {name: fact.as_json() for name, fact in self.facts.items()}
        return {"format": self.format, "facts": facts, "warnings": self.warnings}
