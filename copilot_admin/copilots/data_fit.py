"""Checks data notes against their schema, in a child process where that may take long.

A pattern such as `(a+)+$` or doubling references may take for ever, and `re` blocks all threads.
As a program, this module serves the child processes.
"""

import asyncio
from collections.abc import Iterator, Mapping
import json
from typing import Any

from copilot_admin.agent.processes.fork_server import serve
from copilot_admin.agent.processes.limits import Limits
from copilot_admin.agent.processes.places import Busy
from copilot_admin.agent.processes.workers import ModuleWorkers, OrderFailed
from protocol.json import Json
from protocol.json_schema import data_faults

SECONDS = 3.0  # for a place, and for the work
LIMITS = Limits(memory=512 * 1024**2, cpu_seconds=2)
WORKERS = ModuleWorkers("copilot_admin.copilots.data_fit")
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
    except (OrderFailed, TimeoutError, Busy) as error:
        raise FitNotTold from error
    return tuple(replies[0])


async def _check_in_child(body: str, replies: list[Any]) -> None:
    async with asyncio.timeout(SECONDS):
        await WORKERS.carry_out({}, body, take=replies.append)


def perform(given: Mapping[str, Any], body: bytes) -> Iterator[Json]:
    """Yield where the data does not fit."""
    data, schema = json.loads(body)
    yield list(data_faults(data, schema))


if __name__ == "__main__":
    serve(perform, limits=LIMITS)
