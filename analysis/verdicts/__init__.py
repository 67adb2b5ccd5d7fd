"""What the numbers of a reported run imply about one another: one small check per identity.

To add a check: write a function that takes a case and returns a `Verdict` (or None where it does not apply), decorate
it with `@check(name, scope)` in the module of its subject, and add its known answer to the tests.
"""

from analysis.verdicts import layout, memory, model, schedule, speed, totals
from analysis.verdicts.registry import Verdict, check_names, judge

# Importing the modules registers their checks.
__all__ = ["Verdict", "check_names", "judge", "layout", "memory", "model", "schedule", "speed", "totals"]
