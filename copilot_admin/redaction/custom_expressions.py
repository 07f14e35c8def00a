"""Custom expressions of a copilot, run in a process of their own."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
import json
import logging
import re
import time
import warnings

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.processes.places import Busy
from copilot_admin.agent.processes.workers import ModuleWorkers, OrderFailed
from copilot_admin.redaction.kinds import Span
from copilot_admin.redaction.rules import LONGEST_EXPRESSION
from protocol.json import Json

logger = logging.getLogger(__name__)


# A question is told that it cannot be taken after 4 s, so who waits for this gives up before.
LEAST_SECONDS = 1.0
SECONDS_OF_MEGABYTE = 0.2  # of text besides: an expression that is harmless reads 10 MB in a second
MOST_SECONDS = 3.0
# Expressions that took too long are not tried again for a while: they would take all places.
RESTED_SECONDS = 600.0
LOST_IN_A_ROW = (
    3  # times, one after the other; a machine that is busy for a moment is no fault of theirs
)
WORKERS = ModuleWorkers("copilot_admin.redaction.worker", at_once=4)

_failures: dict[tuple[str, ...], tuple[int, float]] = {}  # in a row, and when the last was


class SearchNotEnded(Exception):
    """Nobody knows whether the expressions are in the texts: looking did not come to its end."""


def finds_nothing_as_well(expression: str) -> bool:
    """Whether an expression is found in a text without a letter; blocks, so call it in a thread.

    Raises:
        NotFound: Looking took too long, or broke.
    """
    replies: list[Json] = []
    try:
        asyncio.run(_ordered((expression,), json.dumps([""]), replies, LEAST_SECONDS, trial=True))
        return replies == [[[[0, 0]]]]
    except (OrderFailed, TimeoutError, Busy) as error:
        raise SearchNotEnded from error


def spans_of(expressions: tuple[str, ...], texts: Sequence[str]) -> list[list[Span]]:
    """Where expressions are in each of some texts; blocks, so call it in a thread.

    Raises:
        NotFound: Looking took too long, or broke.
    """
    if _rests(expressions):
        raise SearchNotEnded
    body = json.dumps(list(texts))
    seconds = min(MOST_SECONDS, LEAST_SECONDS + SECONDS_OF_MEGABYTE * len(body) / 1_000_000)
    replies: list[Json] = []
    try:
        asyncio.run(_ordered(expressions, body, replies, seconds))
        found = [[(int(a), int(b)) for a, b in spans] for spans in replies[0]]  # type: ignore[union-attr, arg-type, misc]  # as the worker writes it
    except (OrderFailed, TimeoutError, IndexError) as error:
        _note_failure(expressions)
        raise SearchNotEnded from error
    except Busy as error:
        raise SearchNotEnded from error
    _failures.pop(expressions, None)
    return found


async def _ordered(
    expressions: tuple[str, ...],
    body: str,
    replies: list[Json],
    seconds: float,
    *,
    trial: bool = False,
) -> None:
    order: dict[str, Json] = {"expressions": list(expressions), "empty": trial}
    async with asyncio.timeout(seconds):
        await WORKERS.carry_out(order, body, take=replies.append)


def _rests(expressions: tuple[str, ...]) -> bool:
    times, last = _failures.get(expressions, (0, 0.0))
    return times >= LOST_IN_A_ROW and time.monotonic() - last < RESTED_SECONDS


def _note_failure(expressions: tuple[str, ...]) -> None:
    times, _ = _failures.get(expressions, (0, 0.0))
    _failures[expressions] = (times + 1, time.monotonic())
    logger.error(
        "own expressions for redaction did not come to an end: texts are not stored (%d of them, "
        "%d times in a row)",
        len(expressions),
        times + 1,
    )


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
