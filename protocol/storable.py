"""Make text and JSON fit for UTF-8 and for every database.

PostgreSQL refuses U+0000 in text, and a lone surrogate has no UTF-8: one such character would lose
the whole record. Both become U+FFFD, in keys and in values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import re
from typing import TypeVar, cast

from protocol.json import Json
from protocol.walk import Scalar, rebuild

_BAD = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"

Value = TypeVar("Value", bound=Json)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How many characters were replaced, so that a record can say that it is not verbatim."""

    nul: int = 0
    surrogate: int = 0

    def __bool__(self) -> bool:
        return bool(self.nul or self.surrogate)


def clean_text(text: str) -> str:
    """The text with NUL and lone surrogates replaced."""
    if _is_clean(text):
        return text
    return _BAD.sub(_REPLACEMENT, text)


def _is_clean(text: str) -> bool:
    if "\x00" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable(value: Value) -> tuple[Value, Marks]:
    """Replace what UTF-8 or a database refuses, at any depth and without recursion.

    Args:
        value: Any JSON value; it is not changed.

    Returns:
        The value itself when there was nothing to replace, else a cleaned copy; and what was done.
    """
    bad = [text for text in _texts(value) if not _is_clean(text)]
    if not bad:
        return value, Marks()
    nul = sum(text.count("\x00") for text in bad)
    found = sum(len(_BAD.findall(text)) for text in bad)
    cleaned = rebuild(value, scalar=_clean_scalar, key=clean_text)
    return cast(Value, cleaned), Marks(nul=nul, surrogate=found - nul)


def _clean_scalar(value: Scalar) -> Scalar:
    return clean_text(value) if isinstance(value, str) else value


def _texts(value: Json) -> Iterator[str]:
    level: list[Json] = [value]
    while level:
        deeper: list[Json] = []
        for one in level:
            if isinstance(one, str):
                yield one
            elif isinstance(one, Mapping):
                yield from one
                deeper.extend(one.values())
            elif isinstance(one, list | tuple):
                deeper.extend(one)
        level = deeper
