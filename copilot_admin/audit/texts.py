"""Texts of strangers as the trail keeps them: one line, of bounded length, that any database takes."""

import re

_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def line(text: str, longest: int) -> str:
    """The beginning of a text; control characters, also those of direction, become blanks."""
    return _UNSEEN.sub(" ", text[:longest])
