"""Lays JSON out as a model reads it best: structure on lines of its own, small things in one line.

Source: the published example of Acts of Emergence 005.

Strings are escaped, also the line ends that only Unicode knows, so that a line of the layout is
never a line of somebody's text.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
import json
from math import isfinite
from typing import cast
from uuid import UUID

from protocol.json import Json
from protocol.walk import Scalar, rebuild

WIDTH = 80  # columns within which an object or list of plain values stays on one line
_PLAIN = frozenset({str, int, float, bool, type(None)})
_LINE_ENDS = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\u0085", "\\u0085"))
_ONE_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def layout(value: Json) -> str:
    """The value as JSON text.

    Two spaces of indentation. The outermost object or list is always laid out over lines; an inner
    one stands on one line when it holds plain values only and fits into 80 columns. NaN and
    infinities, which JSON does not have, become null; decimals, times and UUIDs become text.

    Examples:
        >>> print(layout({"name": {"type": "string"}, "tags": []}))
        {
          "name": { "type": "string" },
          "tags": []
        }
    """
    try:
        text = _laid(value, indent=0, prefix=0, inner=False)
    except (TypeError, ValueError):
        text = _laid(rebuild(value, scalar=_as_json), indent=0, prefix=0, inner=False)
    if text.isascii():
        return text
    for mark, escaped in _LINE_ENDS:
        text = text.replace(mark, escaped)
    return text


def _laid(value: Json, *, indent: int, prefix: int, inner: bool) -> str:
    if isinstance(value, Mapping):
        return _object(value, indent=indent, prefix=prefix, inner=inner)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _list(value, indent=indent, prefix=prefix, inner=inner)
    return _ONE_LINE(value)


def _object(value: Mapping[str, Json], *, indent: int, prefix: int, inner: bool) -> str:
    if not value:
        return "{}"
    if _PLAIN.issuperset(map(type, value.values())):
        line = _ONE_LINE(value)[1:-1]
        if inner and indent + prefix + len(line) + 4 <= WIDTH:
            return f"{{ {line} }}"
        body = _separated(indent + 2)(value)[1:-1]
        return f"{{\n{' ' * (indent + 2)}{body}\n{' ' * indent}}}"
    keys = [_ONE_LINE(key) for key in value]
    texts = [
        f"{key}: {_laid(member, indent=indent + 2, prefix=len(key) + 2, inner=True)}"
        for key, member in zip(keys, value.values(), strict=True)
    ]
    return _expanded("{", texts, "}", indent=indent)


def _list(value: Sequence[Json], *, indent: int, prefix: int, inner: bool) -> str:
    if not value:
        return "[]"
    types = set(map(type, value))
    if types <= _PLAIN:
        line = _ONE_LINE(value)
        if inner and indent + prefix + len(line) <= WIDTH:
            return line
        body = _separated(indent + 2)(value)[1:-1]
        return f"[\n{' ' * (indent + 2)}{body}\n{' ' * indent}]"
    if all(map(_is_row, value)):
        return _expanded("[", _rows(value, indent=indent + 2), "]", indent=indent)
    texts = [_laid(member, indent=indent + 2, prefix=0, inner=True) for member in value]
    return _expanded("[", texts, "]", indent=indent)


def _is_row(value: Json) -> bool:
    """Whether an element of a list is an object of plain values that is not empty."""
    return isinstance(value, dict) and bool(value) and _PLAIN.issuperset(map(type, value.values()))


def _rows(rows: Sequence[Json], *, indent: int) -> list[str]:
    """Rows of plain values, written by one call of the encoder and then taken apart.

    A raw line end is never part of a value, and after a `}` it only stands between two rows.
    """
    between = ",\n" + " " * (indent + 2)
    start, end = "{\n" + " " * (indent + 2), "\n" + " " * indent + "}"
    bodies = _separated(indent + 2)(rows)[2:-2].split("}" + between + "{")
    room = WIDTH - indent - 4
    texts = []
    for body in bodies:
        # Every separator loses its line end and indentation when it moves into a line.
        line = body.replace(between, ", ")
        texts.append(f"{{ {line} }}" if len(line) <= room else f"{start}{body}{end}")
    return texts


def _separated(indent: int) -> Callable[[Json], str]:
    return json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, separators=(",\n" + " " * indent, ": ")
    ).encode


def _expanded(start: str, texts: Sequence[str], end: str, *, indent: int) -> str:
    between = ",\n" + " " * (indent + 2)
    return f"{start}\n{' ' * (indent + 2)}{between.join(texts)}\n{' ' * indent}{end}"


def _as_json(value: object) -> Scalar:
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    return cast(Scalar, value)
