"""JSON values: types, coercion of untrusted ones, and cleaning.

Recursive functions suffice: `protocol.strict_json` limits the depth of values.
"""

from collections.abc import Mapping, Sequence
import json
from math import inf, isfinite
import re
from typing import TypeAlias

import orjson

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_DIGITS = 400  # a floating-point number has 309


def load_lenient(text: str | bytes) -> Json:
    """Read JSON, also with NaN, lone surrogates, broken UTF-8 or very long numbers.

    Raises:
        ValueError: It is not JSON, or nested too deeply.
    """
    try:
        return orjson.loads(text)  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
    try:
        return json.loads(text, parse_int=_integer)  # type: ignore[no-any-return]
    except RecursionError:
        raise ValueError("The JSON is nested too deeply.") from None


def json_of(text: str | bytes) -> Json:
    """Return the value of a JSON text, read leniently, or None."""
    try:
        return load_lenient(text)
    except ValueError:
        return None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else inf


def text_of(value: Json) -> str:
    """Return a text, or an empty one."""
    return value if isinstance(value, str) else ""


def object_of(value: Json) -> JsonObject:
    """Return an object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> Sequence[Json]:
    """Return a list, or an empty one."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def objects_of(value: Json) -> list[JsonObject]:
    """Return the objects in a list; other elements are skipped."""
    return [one for one in list_of(value) if isinstance(one, Mapping)]


def is_number(value: object) -> bool:
    """Return whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def integer_of(value: Json) -> int | None:
    """Return an integer, or None; true and false are not integers."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_deeper(value: Json, *, than: int) -> bool:
    """Return whether lists and objects are nested deeper than this."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(than):
        level = [
            member
            for one in level
            for member in (one.values() if isinstance(one, dict) else one)
            if isinstance(member, dict | list)
        ]
        if not level:
            return False
    return bool(level)


def clean_text(text: str) -> str:
    """Return the text with U+FFFD for NUL and lone surrogates.

    PostgreSQL rejects U+0000, and UTF-8 can't encode a lone surrogate: one such character would
    lose the complete record.
    """
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def clean_json(value: Json) -> Json:
    """Return a copy that any database accepts: texts and keys are cleaned, NaN becomes null."""
    match value:
        case str():
            return clean_text(value)
        case float():
            return value if isfinite(value) else None
        case Mapping():
            return {clean_text(name): clean_json(member) for name, member in value.items()}
        case list() | tuple():
            return [clean_json(member) for member in value]
    return value
