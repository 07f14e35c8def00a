"""Finds own expressions in texts, with an end: in another process, and not where they never ended before."""

import asyncio
from collections.abc import Sequence
import json
import logging
import time

from copilot_admin.agent.processes.places import Busy
from copilot_admin.agent.processes.workers import ModuleWorkers, OrderFailed
from copilot_admin.redaction.kinds import Span
from protocol.json import Json

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

logger = logging.getLogger(__name__)
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
