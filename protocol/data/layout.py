"""Lays JSON out as a model reads it best: structure on lines of its own, small things in one line.

Source: the published example of Acts of Emergence 005.

Strings are escaped, also the line ends that only Unicode knows, so that a line of the layout is
never a line of somebody's text.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from itertools import accumulate, chain
import json
from math import isfinite
from typing import cast
from uuid import UUID

from protocol.json import Json
from protocol.walk import Scalar, rebuild

WIDTH = 80  # columns within which an object or list of plain values stays on one line
_MOST_ROWS = 256  # written at once: their text stays small, and its memory is used again
_PLAIN = frozenset({str, int, float, bool, type(None)})
_LINE_ENDS = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\u0085", "\\u0085"))
_ONE_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def layout(value: Json) -> str:
    """The value as JSON text.

    Two spaces of indentation. The outermost object or list is always laid out over lines; an inner
    one stands on one line when it holds plain values only and fits into 80 columns. NaN and
    infinities, which JSON does not have, become null; decimals, times, durations and UUIDs become text, as
    ECMA-262 writes times: milliseconds, Z for UTC.

    Examples:
        >>> print(layout({"name": {"type": "string"}, "tags": []}))
        {
          "name": { "type": "string" },
          "tags": []
        }
    """
    return "".join(laid_out(value))


def laid_out(value: Json) -> list[str]:
    """The text of `layout` in pieces, for who puts it into a longer text.

    Joining them once is what keeps the time of large values in proportion to their size: every
    copy of megabytes is memory that the system has to hand out anew.
    """
    pieces: list[str] = []
    try:
        _lay(value, pieces, indent=0, prefix=0, inner=False)
    except (TypeError, ValueError):
        pieces = []
        _lay(rebuild(value, scalar=_as_json), pieces, indent=0, prefix=0, inner=False)
    return [piece if piece.isascii() else _on_its_line(piece) for piece in pieces]


def fitting(values: Sequence[Json], *, limit: int) -> int:
    """How many elements of a list can be laid out before its text grows by more than `limit`.

    Lays out no more than that, however long the list is.

    Args:
        values: The list; with none of them its text is `[]`.
        limit: Characters beside those two.

    Examples:
        >>> fitting([1, 2, 3], limit=len(layout([1, 2])) - len("[]"))
        2
    """
    for start in range(0, len(values), _MOST_ROWS):
        some = values[start : start + _MOST_ROWS]
        growth = _growth(some)
        if growth > limit:
            grown = list(accumulate(_growth([value]) for value in some))
            return start + bisect_right(grown, limit)
        limit -= growth
    return len(values)


def _growth(values: Sequence[Json]) -> int:
    return sum(map(len, laid_out(values))) - len("[]")


def _on_its_line(text: str) -> str:
    for mark, escaped in _LINE_ENDS:
        text = text.replace(mark, escaped)
    return text


def _lay(value: Json, pieces: list[str], *, indent: int, prefix: int, inner: bool) -> None:
    if type(value) in _PLAIN:  # before the slower question what else it may be
        pieces.append(_ONE_LINE(value))
    elif isinstance(value, Mapping):
        _lay_object(value, pieces, indent=indent, prefix=prefix, inner=inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        _lay_list(value, pieces, indent=indent, prefix=prefix, inner=inner)
    else:
        pieces.append(_ONE_LINE(value))


def _lay_object(
    value: Mapping[str, Json], pieces: list[str], *, indent: int, prefix: int, inner: bool
) -> None:
    if not value:
        pieces.append("{}")
    elif _PLAIN.issuperset(map(type, value.values())):
        line = _ONE_LINE(value)[1:-1]
        if inner and indent + prefix + len(line) + 4 <= WIDTH:
            pieces.append(f"{{ {line} }}")
        else:
            body = _separated(indent + 2)(value)[1:-1]
            pieces.append(f"{{\n{' ' * (indent + 2)}{body}\n{' ' * indent}}}")
    else:
        before = "{\n" + " " * (indent + 2)
        for name, member in value.items():
            key = _ONE_LINE(name)
            pieces += (before, key, ": ")
            _lay(member, pieces, indent=indent + 2, prefix=len(key) + 2, inner=True)
            before = ",\n" + " " * (indent + 2)
        pieces.append(f"\n{' ' * indent}}}")


def _lay_list(
    value: Sequence[Json], pieces: list[str], *, indent: int, prefix: int, inner: bool
) -> None:
    if not value:
        pieces.append("[]")
    elif _PLAIN.issuperset(map(type, value)):
        line = _ONE_LINE(value)
        if inner and indent + prefix + len(line) <= WIDTH:
            pieces.append(line)
        else:
            body = _separated(indent + 2)(value)[1:-1]
            pieces.append(f"[\n{' ' * (indent + 2)}{body}\n{' ' * indent}]")
    else:
        before = "[\n" + " " * (indent + 2)
        for start in range(0, len(value), _MOST_ROWS):
            some = value[start : start + _MOST_ROWS]
            if _are_rows(some):
                pieces += (before, _rows(some, indent=indent + 2))
                before = ",\n" + " " * (indent + 2)
                continue
            for member in some:
                pieces.append(before)
                _lay(member, pieces, indent=indent + 2, prefix=0, inner=True)
                before = ",\n" + " " * (indent + 2)
        pieces.append(f"\n{' ' * indent}]")


def _are_rows(values: Sequence[Json]) -> bool:
    rows = [value for value in values if isinstance(value, dict) and value]
    if len(rows) < len(values):
        return False
    return _PLAIN.issuperset(map(type, chain.from_iterable(row.values() for row in rows)))


def _rows(rows: Sequence[Json], *, indent: int) -> str:
    """Rows of plain values, written by one call of the encoder and then taken apart.

    A raw line end is never part of a value, and after a `}` it only stands between two rows.
    """
    between = ",\n" + " " * (indent + 2)
    start, end = "{\n" + " " * (indent + 2), "\n" + " " * indent + "}"
    bodies = _separated(indent + 2)(rows)[2:-2].split("}" + between + "{")
    # Every line end and its indentation leave a blank behind when they move into one line.
    room, saved = WIDTH - indent - 4, indent + 2
    texts = [
        f"{{ {body.replace(between, ', ')} }}"
        if len(body) - saved * body.count("\n") <= room
        else f"{start}{body}{end}"
        for body in bodies
    ]
    return f",\n{' ' * indent}".join(texts)


@cache
def _separated(indent: int) -> Callable[[Json], str]:
    return json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, separators=(",\n" + " " * indent, ": ")
    ).encode


def _as_json(value: object) -> Scalar:
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, datetime | time):
        text = value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
        return f"{text[:-6]}Z" if text.endswith("+00:00") else text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, Decimal | UUID):
        return str(value)
    return cast(Scalar, value)


def _duration(value: timedelta) -> str:
    length = abs(value)
    minutes, seconds = divmod(length.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{length.microseconds:06d}" if length.microseconds else ""
    sign = "-" if value < timedelta(0) else ""
    return f"{sign}P{length.days}DT{hours:02d}H{minutes:02d}M{seconds:02d}{fraction}S"
