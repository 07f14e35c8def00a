"""What the tests have run of the product: what their processes measured, put together and counted."""

from collections.abc import Mapping
from functools import reduce
import json
from pathlib import Path
from typing import Any

import slipcover

MEASURED_FOLDER = "MEASURED_FOLDER"
SOURCES = ["protocol", "copilot_admin"]
LEFT_OUT = ["copilot_admin/migrations/*"]
NO_CODE = ["if TYPE_CHECKING:", r"\.\.\.$", "assert_never"]

Measured = dict[str, Any]  # in the form of SlipCover's JSON


def together(folder: Path) -> Measured:
    """What all processes have run that wrote into a folder; nothing at all where none did."""
    parts = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    return reduce(slipcover.merge_coverage, parts) if parts else {"files": {}}


def share(measured: Measured, folder: str) -> float:
    """How much of a folder was run, in per cent of its lines and branches; 0 where nothing is."""
    summaries = [of["summary"] for name, of in measured["files"].items() if name.startswith(folder)]
    run = sum(_count(one, "covered") for one in summaries)
    return 100 * run / (run + sum(_count(one, "missing") for one in summaries)) if run else 0.0


def _count(summary: Mapping[str, int], kind: str) -> int:
    return summary[f"{kind}_lines"] + summary[f"{kind}_branches"]
