"""Redaction rules: kinds of personal data and expressions, of the server and of a copilot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import time
from typing import Any
import warnings

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
import regex

from copilot_admin.redaction.kinds import LABELS, DataKind, Span

MAX_EXPRESSIONS = 20
MAX_EXPRESSION_LENGTH = 300  # characters
# A question is refused if it isn't stored within 4 s, so a search must give up before.
SEARCH_SECONDS = 2.0
TRIAL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Rules:
    """Kinds of data and expressions that are removed before anything is stored."""

    kinds: tuple[DataKind, ...] = ()
    expressions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kinds or self.expressions)


NO_RULES = Rules()


def describe_rules(copilot: Any) -> list[str]:
    """Describe what the own rules of a copilot, or of a draft, remove."""
    words = [str(LABELS[kind]) for kind in _known(copilot.redaction)]
    number = len(copilot.redacted_expressions)
    if number:
        text = ngettext("what %(n)d expression finds", "what %(n)d expressions find", number)
        words.append(text % {"n": number})
    return words


def rules_of(copilot: Any) -> Rules:
    """Return the rules of a copilot, or of a draft, with those of the server."""
    return rules_for(copilot.redaction, copilot.redacted_expressions)


def rules_for(kinds: Iterable[str], expressions: Iterable[str]) -> Rules:
    """Combine rules of a copilot with those of the server."""
    own_kinds, own_expressions = settings.REDACTION
    return Rules(
        _known([*own_kinds, *kinds]), tuple(dict.fromkeys((*own_expressions, *expressions)))
    )


def server_rules() -> Rules:
    """Return the rules that apply to every copilot."""
    return rules_for((), ())


def _known(kinds: Iterable[str]) -> tuple[DataKind, ...]:
    wanted = set(kinds)
    return tuple(kind for kind in DataKind if kind in wanted)


def find_matches(expressions: Sequence[str], texts: Sequence[str]) -> list[list[Span]]:
    """Return the spans that expressions match in each text; call it in a thread.

    Raises:
        TimeoutError: The search took too long.
    """
    deadline = time.monotonic() + SEARCH_SECONDS
    return [
        [span for one in expressions for span in _find(one, text, deadline) if span[0] < span[1]]
        for text in texts
    ]


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
