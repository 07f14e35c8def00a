"""Reads the text of a copilot file, YAML or JSON, into plain values that can be stored."""

import json
import math
import re
from typing import Any

from copilot_admin.copilot_file.faults import BadCopilotFile, FileFault, path_of
from copilot_admin.copilot_file.yaml_reading import read_yaml
from protocol.storable import storable
from protocol.strict_json import MalformedJson, loads

MOST_BYTES = 10 * 1024 * 1024  # a few dozen copilots with an image of 200 kB each
_JSON_START = re.compile(r'\s*\{\s*(?:["}]|\Z)')


def load(data: bytes) -> Any:
    """Reads a file. What starts like an object of JSON is JSON, everything else YAML.

    Raises:
        BadCopilotFile: It is too big, or cannot be read; the text says where.
    """
    if len(data) > MOST_BYTES:
        raise BadCopilotFile(
            [FileFault("", f"The file has {len(data)} bytes; {MOST_BYTES} are the most.")]
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        sentence = f"The file is not UTF-8 (byte {error.start}). Save it as UTF-8."
        raise BadCopilotFile([FileFault("", sentence)]) from error
    value = _read_json(data) if _JSON_START.match(text) else read_yaml(text)
    faults = _unstorable(value)
    if faults:
        raise BadCopilotFile(faults)
    return value


def _read_json(data: bytes) -> Any:
    try:
        return loads(data)
    except MalformedJson as error:
        raise BadCopilotFile([FileFault("", error.public.replace("body", "file"))]) from error


def _unstorable(value: Any, path: tuple[str | int, ...] = ()) -> list[FileFault]:
    """What no database or JSON document can hold, at any depth (which the readers bound)."""
    match value:
        case dict():
            faults = [fault for key in value for fault in _unstorable(key, path)]
            items = list(value.items())
        case list():
            faults, items = [], list(enumerate(value))
        case str() if storable(value)[1]:
            return [FileFault(path_of(path), "holds characters that cannot be stored.")]
        case float() if not math.isfinite(value):
            return [FileFault(path_of(path), "is a number without an end.")]
        case _:
            return []
    return faults + [fault for key, item in items for fault in _unstorable(item, (*path, key))]


def as_json(value: Any) -> str:
    """Plain values as JSON that people can read."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
