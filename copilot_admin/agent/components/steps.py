"""Iterates what a component yields, async or not, without ever blocking the event loop."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_END = object()
_MOST_THREADS = 16  # of one component


async def steps_of(
    generator: AsyncGenerator[T, None] | Generator[T, None, None], *, name: str = ""
) -> AsyncGenerator[T, None]:
    """The elements of a generator; a plain one runs in a thread, a step at a time.

    When it is closed early an async generator is closed with it, a plain one as soon as its thread
    comes back from the step it is in: a thread cannot be stopped.

    Args:
        generator: What `tool_eval` returned.
        name: Of the component, which has threads of its own: one that hangs keeps no other
            from running.

    Raises:
        TypeError: It is no generator.
    """
    if isinstance(generator, Generator):
        async with aclosing(_in_threads(generator, _threads_of(name))) as steps:
            async for step in steps:
                yield step
    elif isinstance(generator, AsyncGenerator):
        async with aclosing(generator) as steps:
            async for step in steps:
                yield step
    else:
        raise TypeError("tool_eval must be a generator: it yields its outputs.")


@cache
def _threads_of(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_MOST_THREADS, thread_name_prefix=f"component {name}")


async def _in_threads(
    generator: Generator[T, None, None], threads: ThreadPoolExecutor
) -> AsyncGenerator[T, None]:
    step: Future[Any] | None = None
    try:
        while True:
            step = threads.submit(next, generator, _END)
            value = await asyncio.wrap_future(step)
            if value is _END:
                return
            yield value
    finally:
        if step is None or step.cancel() or step.done():  # one that waits for a thread never runs
            generator.close()
        else:
            step.add_done_callback(lambda _: generator.close())
