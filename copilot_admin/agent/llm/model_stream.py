"""Streams one model answer: retries before it begins, and ends at its deadlines."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
import random

from copilot_admin.agent.values.model_call import Alive, Delta, ModelCall, ModelProvider
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.agent.values.tracing import NULL_TRACER, Tracer, trace_model_call
from copilot_admin.errors import ProviderTimeout, RunError

MAX_RETRIES = 2
MIN_PAUSE_SECONDS = 0.5


async def stream_model(
    provider: ModelProvider,
    call: ModelCall,
    *,
    timeouts: Timeouts,
    tracer: Tracer = NULL_TRACER,
) -> AsyncGenerator[Delta, None]:
    """Stream the deltas of a model's answer.

    Retries share the deadline of the first token. There are no retries after the first delta,
    because sent text can't be revoked. Time that the reader needs doesn't count as silence.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + timeouts.total
    first_due = min(loop.time() + timeouts.first_token, end)
    started = is_alive = False
    retries = 0
    with trace_model_call(call, tracer) as trace:
        while True:
            try:
                async with asyncio.timeout_at(first_due) as deadline:
                    async with aclosing(provider.stream(call)) as deltas:
                        async for delta in deltas:
                            is_alive = True
                            if not isinstance(delta, Alive):
                                started = True
                                trace.add(delta)
                                deadline.reschedule(None)
                                yield delta
                            deadline.reschedule(min(loop.time() + timeouts.between_tokens, end))
                return
            except TimeoutError:
                raise _silence(timeouts, started=is_alive, over=loop.time() >= end) from None
            except RunError as error:
                # A random pause ("full jitter"), so that many clients don't retry at the same time.
                longest = MIN_PAUSE_SECONDS * 2 ** (retries + 1)
                pause = random.uniform(MIN_PAUSE_SECONDS, longest)  # noqa: S311
                pause = max(pause, error.retry_after or 0.0)
                is_late = loop.time() + pause >= first_due
                if started or is_late or not error.retryable or retries >= MAX_RETRIES:
                    raise
                trace.add_failure(error)
            retries += 1
            await asyncio.sleep(pause)


def _silence(timeouts: Timeouts, *, started: bool, over: bool) -> ProviderTimeout:
    if over:
        return ProviderTimeout(
            f"The answer was not finished within {timeouts.total:g} seconds and was ended. "
            "Ask for less at once."
        )
    if started:
        return ProviderTimeout(
            f"The model said nothing more for {timeouts.between_tokens:g} seconds, so the answer "
            "was ended. Ask again."
        )
    return ProviderTimeout(
        f"The model did not begin to answer within {timeouts.first_token:g} seconds. Ask again; if "
        "it happens again, the copilot's owner can raise the limit or pick another model."
    )
