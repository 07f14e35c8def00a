"""The smallest copilot file, and the faults of one that differs from it."""

from typing import Any

import pytest

from copilot_admin.import_export.faults import BadCopilotFile
from copilot_admin.import_export.validation import validate

SMALLEST: dict[str, Any] = {"slug": "a", "name": "A", "provider": "P", "model": "m"}
NOTE = {"kind": "user", "data": {"age": 30}, "schema": {"type": "object"}}


def faults_in(**file: Any) -> list[tuple[str, str]]:
    """Return path and code of each fault of a file."""
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 1, **file})
    return [(fault.path, fault.code) for fault in refused.value.faults]


def faults_of_copilot(**changes: Any) -> list[tuple[str, str]]:
    """Return path and code of each fault of a changed copilot; paths start inside of it."""
    found = faults_in(copilots=[{**SMALLEST, **changes}])
    return [(path.removeprefix("copilots[0]."), code) for path, code in found]
