"""What is wrong with an own expression: it is tried before it is kept, in another process, with an end."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
import re
import time
import warnings

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.redaction.own import SearchNotEnded, finds_nothing_as_well
from copilot_admin.redaction.rules import LONGEST_EXPRESSION

_QUICK_SECONDS = 0.1  # what takes no longer counts for nothing: a file may have hundreds of them


@dataclass(slots=True)
class _Patience:
    """The seconds that are left for trials, and what those said that were made."""

    seconds: float
    said: dict[str, str | Promise] = field(default_factory=dict)


_patience: ContextVar[_Patience | None] = ContextVar("patience for trials", default=None)


@contextmanager
def trials_within(seconds: float) -> Iterator[None]:
    """Tries expressions in the block for so long in all; within such a block it changes nothing."""
    if _patience.get() is not None:
        yield
        return
    token = _patience.set(_Patience(seconds))
    try:
        yield
    finally:
        _patience.reset(token)


def expression_fault(expression: str) -> str | Promise:
    """What is wrong with an own expression; nothing when it is right. Blocks for some milliseconds.

    Some never come to an end, even on a text without a letter, and one that is being looked for here
    would hold the whole server.
    """
    if len(expression) > LONGEST_EXPRESSION:
        return _("An expression has %(most)d characters at most.") % {"most": LONGEST_EXPRESSION}
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(expression)
    except (re.error, RecursionError, OverflowError):
        return _(
            "It is no regular expression of Python. Write one such as CUST-[0-9]{6}, and put a "
            "backslash before a sign that is meant as it is."
        )
    patience = _patience.get()
    return _tried(expression) if patience is None else _tried_once(expression, patience)


def _tried_once(expression: str, patience: _Patience) -> str | Promise:
    if expression in patience.said:
        return patience.said[expression]
    if patience.seconds <= 0:
        return _("It was not tried: those before it took too long.")
    began = time.monotonic()
    said = patience.said[expression] = _tried(expression)
    took = time.monotonic() - began
    if took > _QUICK_SECONDS:
        patience.seconds -= took
    return said


def _tried(expression: str) -> str | Promise:
    try:
        if finds_nothing_as_well(expression):
            return _("It finds nothing as well: every text would be full of it.")
    except SearchNotEnded:
        return _(
            "On an empty text it does not come to an end within a second. Repeat less in it, or "
            "try again."
        )
    return ""
