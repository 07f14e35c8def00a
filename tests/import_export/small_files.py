"""The smallest copilot file, and the faults of one that differs from it."""

from typing import Any

import pytest

from copilot_admin.import_export.faults import BadCopilotFile
from copilot_admin.import_export.validation import validate

SMALLEST: dict[str, Any] = {"slug": "a", "name": "A", "provider": "P", "model": "m"}


def faults_of_copilot(**changes: Any) -> list[str]:
    """The faults of a file with one copilot, whose entry is changed."""
    with pytest.raises(BadCopilotFile) as refused:
        validate({"format": 1, "copilots": [{**SMALLEST, **changes}]})
    return [str(fault) for fault in refused.value.faults]


NOTE = {"kind": "user", "data": {"age": 30}, "schema": {"type": "object"}}
