"""The calibration of the checkout, read as plain YAML."""

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[3] / "data" / "calibration"
CALIBRATION: dict[str, Any] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml"))
}
