"""Tells where data does not fit a schema, with an end: what may take long is done in another process.

A line of a schema is enough to take for ever, and an expression that is looked for holds all other
threads: `(a+)+$`, or references that double with each step.
"""

import asyncio
from collections import deque
import json
import time

from copilot_admin.agent.processes.places import Busy
from copilot_admin.agent.processes.workers import ModuleWorkers, OrderFailed
from protocol.json import Json
from protocol.json_schema import data_faults
from protocol.walk import values_in

SECONDS = 3.0  # for a place, and for the work
# Values of the data times those of the schema: to check one against the other takes up to 10 us.
MOST_AT_ONCE = 5000
_ENDLESS = ('"pattern"', '"patternProperties"', '"$ref"', '"$dynamicRef"')
# Looks that were given up within a minute, after which none is begun: a copilot may have a hundred notes.
MOST_LOST = 3
REST_SECONDS = 60.0
WORKERS = ModuleWorkers("copilot_admin.copilots.data_fit_worker")
_lost: deque[float] = deque(maxlen=MOST_LOST)


class FitNotTold(Exception):
    """Nobody knows whether the data fits: looking did not come to its end."""


def fit_faults(data: Json, schema: Json) -> tuple[str, ...]:
    """Where data does not fit a schema that has no fault; blocks, so call it in a thread.

    Raises:
        FitNotTold: Looking took too long, or broke.
    """
    if _is_quick(data, schema):
        return data_faults(data, schema)
    if len(_lost) == MOST_LOST and time.monotonic() - _lost[0] < REST_SECONDS:
        raise FitNotTold
    replies: list[Json] = []
    try:
        asyncio.run(_ordered(json.dumps([data, schema]), replies))
        return tuple(map(str, replies[0]))  # type: ignore[arg-type]  # a list, as the worker writes it
    except (OrderFailed, TimeoutError, Busy) as error:
        _lost.append(time.monotonic())
        raise FitNotTold from error


def _is_quick(data: Json, schema: Json) -> bool:
    if values_in(data) * values_in(schema) > MOST_AT_ONCE:
        return False
    written = json.dumps(schema)
    return not any(word in written for word in _ENDLESS)


async def _ordered(body: str, replies: list[Json]) -> None:
    async with asyncio.timeout(SECONDS):
        await WORKERS.carry_out({}, body, take=replies.append)
