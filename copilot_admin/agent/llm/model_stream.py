"""Streams one model answer: asks again while nothing came, and gives up on silence."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from copilot_admin.agent.llm.retries import Pace, Watch, pause_before_retry
from copilot_admin.agent.values.model_call import Alive, Delta, ModelCall, ModelProvider
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.agent.values.witness import NOBODY, ModelCallNotes, Witness
from copilot_admin.errors import ProviderTimeout, RunError


async def stream_model(
    provider: ModelProvider,
    call: ModelCall,
    *,
    timeouts: Timeouts,
    pace: Pace,
    witness: Witness = NOBODY,
) -> AsyncGenerator[Delta, None]:
    """Streams the deltas of a model's answer.

    Retries share the deadline of the first token; after the first delta there are none, because
    what was sent cannot be taken back.

    Args:
        provider: That is asked.
        call: What it is asked.
        timeouts: How long it may be silent.
        pace: Of retries.
        witness: Is told of the call when it has ended.

    Raises:
        ProviderTimeout: The provider was silent for longer than `timeouts` allow.
        RunError: What the provider raised, if asking again was of no use.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + timeouts.total
    first_due = min(loop.time() + timeouts.first_token, end)
    started = False
    retries = 0
    with ModelCallNotes(call, witness) as notes:
        while True:
            try:
                async with aclosing(provider.stream(call)) as deltas:
                    with Watch(shortest=timeouts.between_tokens) as watch:
                        watch.wait_until(first_due)
                        async for delta in deltas:
                            watch.arrived()
                            started = True
                            if not isinstance(delta, Alive):
                                notes.take(delta)
                                yield delta
                            watch.wait_until(min(loop.time() + timeouts.between_tokens, end))
                return
            except asyncio.CancelledError:
                if not watch.expired():
                    raise
                raise _silence(timeouts, started=started, over=loop.time() >= end) from None
            except RunError as error:
                remaining = first_due - loop.time()
                pause = pause_before_retry(
                    error, retries=retries, remaining=remaining, chance=pace.random()
                )
                if started or pause is None:
                    raise
                notes.failed(error)
            retries += 1
            await pace.sleep(pause)


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
        "it stays so, whoever manages this copilot can raise the limit or pick another model."
    )
