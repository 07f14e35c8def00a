"""Read untrusted JSON: strict where a program could be misled, bounded in depth and number.

Source: RFC 8259 and, for what goes beyond it, the hostile-input rules of this project: UTF-8 only,
no NaN and no infinities, no key twice in one object of the protocol.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
import json
from math import isinf
import re
from typing import NoReturn

from protocol.json import Json
from protocol.json_tokens import has_more_tokens
from protocol.storable import clean_text, storable

MAX_DEPTH = 64  # a request nests about 12 deep
MAX_OPAQUE_DEPTH = 256  # widget data is whatever a backend made
# A 20 MB body of numbers has more: it would fill gigabytes of memory, and take longer to be read and
# packed than its sender waits. What the parser makes of so many without a step of Python between (texts,
# empty lists) keeps all threads waiting for 20 ms.
MAX_TOKENS = 1_000_000
OPAQUE_KEYS = frozenset({"content", "data"})  # below them lies data of widgets and tools

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_MAY_NEED_CLEANING = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_INT_64 = range(-(2**63), 2**64)
_MAX_DIGITS = 20  # of 2**64 - 1; longer ones are not even converted
_MAX_NAMED = 5  # more repeated keys say nothing new


class MalformedJson(ValueError):
    """A body that is not the JSON we read; `public` says what to do, `code` is for programs.

    Attributes:
        place: Line and column, from 1, where what was read is no JSON.
    """

    def __init__(self, public: str, *, code: str, place: tuple[int, int] | None = None) -> None:
        super().__init__(public)
        self.public = public
        self.code = code
        self.place = place


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value read from JSON, fit for storing, and sentences about what was mended in it."""

    value: Json
    notes: tuple[str, ...] = ()


class _Repeating(dict[str, Json]):
    """An object in which a key stood twice; the last value counts."""


def loads(body: bytes, *, most_tokens: int = MAX_TOKENS) -> Json:
    """Read one JSON value; see `parse`."""
    return parse(body, most_tokens=most_tokens).value


def parse(body: bytes, *, most_tokens: int = MAX_TOKENS) -> Parsed:
    """Read one JSON value from untrusted bytes, in time linear in their number.

    Integers beyond 64 bits stay text, as the client wrote them. NUL and lone surrogates become
    U+FFFD.

    Args:
        body: UTF-8 with or without a byte order mark.
        most_tokens: Brackets, braces, commas and colons that it may have.

    Returns:
        The value and notes about repeated keys inside opaque data and about replaced characters.

    Raises:
        MalformedJson: Not UTF-8, not strict JSON, a number that no program can hold, nested deeper
            than 64 levels (256 below `content` and `data`), too many tokens, or a key
            that stands twice in one object of the protocol.
    """
    _check_tokens(body, most_tokens)
    repeated: list[str] = []
    value = _parse(_decode(body), repeated)
    if repeated or body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        _check_levels(value)
    notes = [
        f'Inside data, the key "{key}" stood twice; its last value was used.' for key in repeated
    ]
    if _MAY_NEED_CLEANING.search(body):
        value, marks = storable(value)
        if marks:
            notes.append("Characters that cannot be stored were replaced with U+FFFD.")
    return Parsed(value, tuple(notes))


def _decode(body: bytes) -> str:
    try:
        return body.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        if body.startswith(_GZIP):
            raise MalformedJson(
                "The body is compressed (gzip), and does not say so. Send it plain, as JSON encoded "
                "as UTF-8.",
                code="compressed-body",
            ) from None
        raise MalformedJson(
            f"The body is not UTF-8 (byte {error.start}). Send JSON encoded as UTF-8.",
            code="not-utf8",
        ) from None


def _parse(text: str, repeated: list[str]) -> Json:
    def collect(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        if len(repeated) < _MAX_NAMED:
            repeated.append(clean_text(twice))
        return _Repeating(members)

    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=collect,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise MalformedJson(
            f"The body is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})."
            " Send one JSON object.",
            code="malformed-json",
            place=(error.lineno, error.colno),
        ) from None
    except RecursionError:
        raise _too_deep() from None
    return value


def _integer(digits: str) -> int | str:
    if len(digits) > _MAX_DIGITS + 1:  # a sign
        return digits
    number = int(digits)
    return number if number in _INT_64 else digits


def _float(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise MalformedJson(
            "The body holds a number that is too large (above 1.8e308). Send it as text.",
            code="number-too-large",
        )
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedJson(
        f"The body holds {name}, which is not JSON. Send null or text instead.",
        code="not-a-number",
    )


def _check_tokens(body: bytes, most: int) -> None:
    if has_more_tokens(body, most):
        raise MalformedJson(
            f"The body has more than {most:,} JSON values. Send less data.",
            code="too-many-tokens",
        )


def _check_levels(value: Json) -> None:
    opaque: list[Json] = []
    level = _containers([value])
    for _ in range(MAX_DEPTH):
        for one in level:
            if isinstance(one, _Repeating):
                raise MalformedJson(
                    "A key stands twice in one object of the body. Send every key once.",
                    code="duplicate-key",
                )
        level = _next_level(level, opaque)
    if level or _is_deeper(opaque, MAX_OPAQUE_DEPTH):
        raise _too_deep()


def _next_level(level: list[Json], opaque: list[Json]) -> list[Json]:
    deeper: list[Json] = []
    for one in level:
        if isinstance(one, dict):
            for key, member in one.items():
                (opaque if key in OPAQUE_KEYS else deeper).append(member)
        else:
            deeper.extend(one)  # type: ignore[arg-type]  # the parser makes dicts and lists only
    return _containers(deeper)


def _is_deeper(values: list[Json], limit: int) -> bool:
    level = _containers(values)
    for _ in range(limit):
        level = _containers(
            member
            for one in level
            for member in (one.values() if isinstance(one, dict) else one)  # type: ignore[union-attr]  # see above
        )
    return bool(level)


def _containers(values: Iterable[Json]) -> list[Json]:
    return [value for value in values if isinstance(value, dict | list)]


def _too_deep() -> MalformedJson:
    return MalformedJson(
        f"The body is nested deeper than {MAX_DEPTH} levels ({MAX_OPAQUE_DEPTH} inside data)."
        " Send flatter data.",
        code="too-deep",
    )
