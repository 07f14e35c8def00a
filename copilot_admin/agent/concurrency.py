"""Threads for work that would hold the event loop for too long.

A thread shares the interpreter lock with the loop: it is handed over between two steps of Python,
so such work contains no single long call of C.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from copilot_admin.agent.values.answer_request import AnswerRequest
from copilot_admin.agent.values.model_call import ToolCall

# Bytes of a request. Planning, listing and laying out its widgets and data takes about 10 ms for so
# much; the costliest, small objects in each other, take 30 ms.
HEAVY_BYTES = 256 * 1024
HEAVY_ARGUMENTS = 16 * 1024  # characters of a call; cleaning so much HTML takes 10 ms at most

T = TypeVar("T")


async def run_in_thread_if(heavy: bool, work: Callable[[], T]) -> T:
    """Return the result of the work, which runs in a thread if it is heavy."""
    return await asyncio.to_thread(work) if heavy else work()


def is_large(request: AnswerRequest) -> bool:
    return request.size > HEAVY_BYTES


def is_long(call: ToolCall) -> bool:
    return len(call.arguments) > HEAVY_ARGUMENTS
