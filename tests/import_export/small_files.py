"""The smallest copilot file, and the errors of one that differs from it."""

from typing import Any

import pytest

from copilot_admin.import_export.errors import BadCopilotFile
from copilot_admin.import_export.schema import validate

SMALLEST: dict[str, Any] = {"slug": "a", "name": "A", "provider": "P", "model": "m"}
NOTE = {"kind": "user", "data": {"age": 30}, "schema": {"type": "object"}}


def errors_in(**file: Any) -> list[tuple[str, str]]:
    """Return path and code of each error of a file."""
    with pytest.raises(BadCopilotFile) as caught:
        validate({"format": 1, **file})
    return [(error.path, error.code) for error in caught.value.errors]


def errors_of_copilot(**changes: Any) -> list[tuple[str, str]]:
    """Return path and code of each error of a changed copilot; paths start inside of it."""
    found = errors_in(copilots=[{**SMALLEST, **changes}])
    return [(path.removeprefix("copilots[0]."), code) for path, code in found]
