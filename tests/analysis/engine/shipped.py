"""The calibration of the checkout, as the front door reads it."""

from pathlib import Path
from typing import Any

from etl.database import building

CALIBRATION: dict[str, Any] = dict(
    building.some(Path(__file__).parents[3] / "data", ["calibration"]).values("calibration")
)
