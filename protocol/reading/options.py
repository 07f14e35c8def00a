"""Read the options that a user switched on or filled in."""

from collections.abc import Mapping

from protocol.json import Json
from protocol.reading.notes import Notes

_OFF = (False, "", None)  # Workspace leaves an option out when it is off; the docs promise false


def read_options(raw: Json, *, notes: Notes) -> dict[str, bool | str]:
    """Read an object (generation 3 today) or a list of `key` and `key=value` (until May 2026)."""
    options: dict[str, bool | str] = {}
    for key, value in _pairs(raw, notes=notes):
        if isinstance(value, bool | str) or value is None:
            if value not in _OFF:
                options[key] = value or True
        else:
            notes.dropped(f"workspace_options.{key}", wanted="true or text")
    return options


def _pairs(raw: Json, *, notes: Notes) -> list[tuple[str, Json]]:
    if isinstance(raw, Mapping):
        return list(raw.items())
    if isinstance(raw, list | tuple):
        return [pair for index, one in enumerate(raw) if (pair := _pair(one, index, notes=notes))]
    if raw is not None:
        notes.dropped("workspace_options", wanted="an object or a list")
    return []


def _pair(raw: Json, index: int, *, notes: Notes) -> tuple[str, Json] | None:
    if not isinstance(raw, str) or not raw.strip():
        notes.dropped(f"workspace_options[{index}]", wanted="text")
        return None
    key, equals, value = raw.partition("=")
    return key.strip(), value.strip() if equals else True
