"""What the numbers of a reported run imply about one another: one small check per identity.

To add a check: write a function that takes a case and returns a `Verdict` (or None where it does not apply), decorate
it with `@check(name, scope)` in any module of this folder, write its sentences into schemas/reasons.yaml, and add its
known answer to the tests. Modules are found by themselves.
"""

from importlib import import_module
from pkgutil import iter_modules

from analysis.verdicts.registry import CHECKS, Verdict, judge, not_judged

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["CHECKS", "Verdict", "judge", "not_judged"]
