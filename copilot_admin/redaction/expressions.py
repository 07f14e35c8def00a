"""Expressions of an organisation, matched with a time limit."""

from collections.abc import Sequence
import logging
import time
import warnings

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
import regex

from copilot_admin.redaction.kinds import Span
from copilot_admin.redaction.rules import MAX_EXPRESSION_LENGTH

logger = logging.getLogger(__name__)

# A question is refused if it isn't stored within 4 s, so a search must give up before.
SEARCH_SECONDS = 2.0
TRIAL_SECONDS = 0.2


class SearchTimedOut(Exception):
    """A search took too long, so nobody knows whether the texts contain a match."""


def find_matches(expressions: Sequence[str], texts: Sequence[str]) -> list[list[Span]]:
    """Return the spans that expressions match in each text; call it in a thread.

    Raises:
        SearchTimedOut: The search took too long.
    """
    deadline = time.monotonic() + SEARCH_SECONDS
    try:
        return [
            [
                span
                for one in expressions
                for span in _find(one, text, deadline)
                if span[0] < span[1]
            ]
            for text in texts
        ]
    except TimeoutError as error:
        logger.error("expressions for redaction took too long: texts are not stored")  # noqa: TRY400  # the traceback says no more
        raise SearchTimedOut from error


def _find(expression: str, text: str, deadline: float) -> list[Span]:
    seconds_left = max(deadline - time.monotonic(), 0.001)
    # `concurrent` lets other threads run meanwhile.
    matches = regex.finditer(expression, text, timeout=seconds_left, concurrent=True)
    return [match.span() for match in matches]


def expression_fault(expression: str) -> str | Promise:
    """Return what is wrong with an expression, or an empty string."""
    if len(expression) > MAX_EXPRESSION_LENGTH:
        return _("An expression has %(max)d characters at most.") % {"max": MAX_EXPRESSION_LENGTH}
    try:
        with warnings.catch_warnings(action="ignore"):
            matches_nothing = _find(expression, "", time.monotonic() + TRIAL_SECONDS)
    except (regex.error, RecursionError, OverflowError, TimeoutError):
        return _(
            "This is not a valid regular expression. Write one such as CUST-[0-9]{6}, and put a "
            "backslash before a character that is meant literally."
        )
    if matches_nothing:
        return _("It also matches an empty text, so it would be found everywhere.")
    return ""
