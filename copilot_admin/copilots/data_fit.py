"""Checks data notes against their schema, in a child process where that may take long.

A pattern such as `(a+)+$` or doubling references may take for ever, and `re` blocks all threads.
"""

import asyncio
from collections.abc import Iterator, Mapping
import json
from typing import Any

from copilot_admin.agent.worker_processes import Limits, TaskFailed, WorkerPool, WorkersBusy
from protocol.json import Json
from protocol.json_schema import data_faults

SECONDS = 3.0  # for a place, and for the work
LIMITS = Limits(memory=512 * 1024**2, cpu_seconds=2)
_SLOW_KEYWORDS = ('"pattern"', '"patternProperties"', '"$ref"', '"$dynamicRef"')


class FitNotTold(Exception):
    """The check took too long, or failed."""


def fit_faults(data: Json, schema: Json) -> tuple[str, ...]:
    """Return where data does not fit a valid schema; blocks, so call it in a thread.

    Raises:
        FitNotTold: The check took too long, or failed.
    """
    written = json.dumps(schema)
    if not any(word in written for word in _SLOW_KEYWORDS):
        return data_faults(data, schema)
    replies: list[Any] = []
    try:
        asyncio.run(_check_in_child(json.dumps([data, schema]), replies))
    except (TaskFailed, TimeoutError, WorkersBusy) as error:
        raise FitNotTold from error
    return tuple(replies[0])


async def _check_in_child(body: str, replies: list[Any]) -> None:
    async with asyncio.timeout(SECONDS):
        await WORKERS.run({}, body, on_reply=replies.append)


def perform(given: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Yield where the data does not fit."""
    data, schema = json.loads(body)
    yield list(data_faults(data, schema))


WORKERS = WorkerPool(perform, limits=LIMITS)
