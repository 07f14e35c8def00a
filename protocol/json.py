"""JSON values: types, cleaning and lenient reading of untrusted ones, and a layout for models.

Recursive functions suffice: `parse` limits the depth of values.
"""

from collections.abc import Mapping, Sequence
import json
from math import inf, isfinite
import re
from typing import TypeAlias

import orjson

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

MAX_DEPTH = 128  # a request nests about 12 deep
LAYOUT_WIDTH = 80  # columns within which a nested object or list of scalars stays on one line
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MAX_DIGITS = 400  # a floating-point number has 309
_BOM = "\ufeff"
_GZIP = b"\x1f\x8b"
_SCALARS = frozenset({str, int, float, bool, type(None)})
_LINE_ENDS = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "\u2028\u2029\u0085"})
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str).encode


class MalformedJson(ValueError):
    """A body that is not valid JSON; `public` states the remedy, `code` is for programs.

    `place` is the line and column, from 1, where the text is not JSON.
    """

    def __init__(self, public: str, *, code: str, place: tuple[int, int] | None = None) -> None:
        super().__init__(public)
        self.public = public
        self.code = code
        self.place = place


def loads(body: bytes) -> Json:
    """Return one JSON value; see `parse`."""
    return parse(body)[0]


def parse(body: bytes) -> tuple[Json, bool]:
    """Read one JSON value from untrusted UTF-8, with or without a byte order mark.

    Returns:
        The value, and whether NUL or lone surrogates were replaced with U+FFFD. Of duplicate
        keys of an object, the last value counts.

    Raises:
        MalformedJson: Not UTF-8, not JSON, a number that is too large, or nested deeper than 128
            levels.
    """
    text = _decode(body)
    has_surrogates = _ESCAPED_SURROGATE.search(text) is not None
    too_deep = MalformedJson(
        f"The body is nested deeper than {MAX_DEPTH} levels. Send flatter data.", code="too-deep"
    )
    try:
        value: Json = load_lenient(text) if has_surrogates else orjson.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "depth limit exceeded":
            raise too_deep from None
        raise MalformedJson(
            f"The body is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})."
            " Send one JSON object.",
            code="malformed-json",
            place=(error.lineno, error.colno),
        ) from None
    except ValueError:
        raise too_deep from None
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deeper(value, than=MAX_DEPTH):
        raise too_deep
    if not has_surrogates and "\\u0000" not in text:
        return value, False
    cleaned = clean_json(value)
    return cleaned, cleaned != value


def _decode(body: bytes) -> str:
    try:
        return body.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        if body.startswith(_GZIP):
            public = "The body is compressed (gzip), but has no Content-Encoding. "
            public += "Send plain JSON in UTF-8."
            raise MalformedJson(public, code="compressed-body") from None
        public = f"The body is not UTF-8 (byte {error.start}). Send JSON encoded as UTF-8."
        raise MalformedJson(public, code="not-utf8") from None


def load_lenient(text: str | bytes) -> Json:
    """Read JSON, also with NaN, lone surrogates or broken UTF-8; raise `ValueError` for others."""
    try:
        return orjson.loads(text)  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
    try:
        return json.loads(  # type: ignore[no-any-return]
            text, parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else inf
        )
    except RecursionError:
        raise ValueError("The JSON is nested too deeply.") from None


def json_of(text: str | bytes) -> Json:
    """Return the value of a JSON text, read leniently, or None."""
    try:
        return load_lenient(text)
    except ValueError:
        return None


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
    level: list[Json] = [value]
    for _ in range(than):
        level = [
            member
            for one in level
            if isinstance(one, dict | list)
            for member in (one.values() if isinstance(one, dict) else one)
        ]
    return any(isinstance(one, dict | list) for one in level)


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


def layout(value: Json) -> str:
    """Return a value as JSON text for models, with two spaces of indentation.

    The outermost object or list always spans several lines. A nested one is on one line if it has
    only scalars and fits into 80 columns. NaN and infinities become null. Strings are escaped,
    including Unicode line ends, so that content of a user can't start a line of the layout.
    Source: the published example of Acts of Emergence 005.
    """
    try:
        text = _format_value(value)
    except ValueError:
        text = _format_value(clean_json(value))  # for NaN and infinities
    return text if text.isascii() else text.translate(_LINE_ENDS)


def _format_value(value: Json, *, indent: int = 0, width: int = 0) -> str:
    """Format one value; `width` is the rest of its line, or 0 for the outermost value."""
    members: Sequence[Json]
    if isinstance(value, Mapping):
        value, members = dict(value), list(value.values())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        members = value
    else:
        return _encode(value)
    if not members or (width and _SCALARS.issuperset(map(type, members))):
        line = _encode(value)
        if members and isinstance(value, dict):
            line = f"{{ {line[1:-1]} }}"
        if not members or len(line) <= width:
            return line
    inner = indent + 2
    is_object = isinstance(value, dict)
    keys = [f"{_encode(name)}: " for name in value] if is_object else [""] * len(members)
    parts = [
        key + _format_value(one, indent=inner, width=max(LAYOUT_WIDTH - inner - len(key), 1))
        for key, one in zip(keys, members, strict=True)
    ]
    opening, closing = "{}" if is_object else "[]"
    body = (",\n" + " " * inner).join(parts)
    return f"{opening}\n{' ' * inner}{body}\n{' ' * indent}{closing}"
