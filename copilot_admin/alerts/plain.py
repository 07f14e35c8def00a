"""Untrusted words as one short line: nothing in them begins another line, header or direction."""

from collections.abc import Iterator
import unicodedata

from copilot_admin.copilots.fields.directions import TURNING_SIGNS

# Twice as many signs are looked at as are kept: runs of blanks become one.
_LOOKED_AT = 2
# Control characters, halves of pairs, separators of lines and paragraphs.
_BREAKING = frozenset({"Cc", "Cs", "Zl", "Zp"})


def one_line(text: str, *, most: int) -> str:
    """The text without line breaks and what turns its direction; at most `most` characters."""
    beginning = text[: most * _LOOKED_AT]
    line = " ".join("".join(_harmless(beginning)).split())
    is_cut = len(line) > most or len(beginning) < len(text)
    return line[: most - 1].rstrip() + "…" if is_cut else line


def _harmless(text: str) -> Iterator[str]:
    for sign in text:
        if sign not in TURNING_SIGNS:
            yield " " if unicodedata.category(sign) in _BREAKING else sign
