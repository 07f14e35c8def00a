"""Strict reading of untrusted JSON: UTF-8 only, no NaN or infinities, bounded depth."""

import json
import re

import orjson

from protocol.json import Json, clean_json, is_deeper, load_lenient

MAX_DEPTH = 128  # a request nests about 12 deep
_BOM = "\ufeff"
_GZIP = b"\x1f\x8b"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class MalformedJson(ValueError):
    """A body that is not valid JSON; `public` states the remedy, `code` is for programs.

    Attributes:
        place: Line and column, from 1, where the text is not JSON.
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
    """Read one JSON value from untrusted bytes.

    Args:
        body: UTF-8 with or without a byte order mark.

    Returns:
        The value, and whether NUL or lone surrogates were replaced with U+FFFD. Of duplicate
        keys of an object, the last value counts.

    Raises:
        MalformedJson: Not UTF-8, not JSON, a number that is too large, or nested deeper than 128
            levels.
    """
    text = _decode(body)
    try:
        value: Json = _parse(text)
    except json.JSONDecodeError as error:
        if error.msg == "depth limit exceeded":
            raise _too_deep() from None
        raise MalformedJson(
            f"The body is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})."
            " Send one JSON object.",
            code="malformed-json",
            place=(error.lineno, error.colno),
        ) from None
    except ValueError:
        raise _too_deep() from None
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deeper(value, than=MAX_DEPTH):
        raise _too_deep()
    if "\\u0000" not in text and not _SURROGATE.search(text):
        return value, False
    cleaned = clean_json(value)
    return cleaned, cleaned != value


def _decode(body: bytes) -> str:
    try:
        return body.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        if body.startswith(_GZIP):
            raise MalformedJson(
                "The body is compressed (gzip), but has no Content-Encoding. Send plain JSON in UTF-8.",
                code="compressed-body",
            ) from None
        raise MalformedJson(
            f"The body is not UTF-8 (byte {error.start}). Send JSON encoded as UTF-8.",
            code="not-utf8",
        ) from None


def _parse(text: str) -> Json:
    try:
        return orjson.loads(text)  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        if not _SURROGATE.search(text):
            raise
        return load_lenient(text)  # lone surrogates


def _too_deep() -> MalformedJson:
    return MalformedJson(
        f"The body is nested deeper than {MAX_DEPTH} levels. Send flatter data.", code="too-deep"
    )
