"""Whether code has a regular expression, as `doors.py` has to know of."""

import re

_EXPRESSION = re.compile(
    r"\bre\.(compile|sub|split|search|match|fullmatch|find\w+)\(|pattern=r|RegexValidator\("
)


def has_expression(code: str) -> bool:
    """Looks for the functions of `re`, and for those who hand a pattern to others."""
    return _EXPRESSION.search(code) is not None
