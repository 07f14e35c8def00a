"""Whether code has a regular expression or takes texts apart by hand, as `doors.py` has to know of."""

import re

_EXPRESSION = re.compile(
    r"\bre\.(compile|sub|split|search|match|fullmatch|find\w+)\(|pattern=r|RegexValidator\("
)
_BY_HAND = re.compile(r"\.(find|split)\(")


def has_expression(code: str) -> bool:
    """Looks for the functions of `re`, and for those who hand a pattern to others."""
    return _EXPRESSION.search(code) is not None


def takes_apart(code: str) -> bool:
    """Looks for what parsers without an expression are made of."""
    return _BY_HAND.search(code) is not None
