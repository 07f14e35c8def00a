"""Rounds of duties: each is done every few seconds, whatever becomes of the others."""

import asyncio
from collections.abc import Awaitable, Callable
import contextlib
import logging
from typing import TypeAlias

from django import db

from copilot_admin.errors import CopilotError, Unavailable
from copilot_admin.runs.tasks import spawn
from copilot_admin.transcripts.store import HEARTBEAT_SECONDS

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0  # then the other duties go on beside one that hangs

Duty: TypeAlias = Callable[[], Awaitable[object]]


async def again_and_again(*duties: Duty) -> None:
    """Does duties every few seconds; one that breaks or hangs keeps neither the others nor itself."""
    under_way: dict[Duty, asyncio.Task[None]] = {}
    try:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for duty in duties:
                if duty not in under_way or under_way[duty].done():
                    name = f"duty {getattr(duty, '__name__', duty)}"
                    under_way[duty] = spawn(_forgiving(duty), name=name)
                    # What it raises is logged by its task.
                    await asyncio.wait({under_way[duty]}, timeout=PATIENCE_SECONDS)
    finally:
        for task in under_way.values():
            task.cancel()


async def _forgiving(duty: Duty) -> None:
    """A database that is away is no news here: it is tried again."""
    try:
        with contextlib.suppress(db.Error, Unavailable):
            await duty()
    except CopilotError:  # told to nobody else: there is no request to answer
        logger.exception("duty %s ended with an error", getattr(duty, "__name__", duty))
