"""A provider that is silent for too long is given up, and one that is slow is not."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.values.model_call import ALIVE, Alive, Delta, Finish, ModelCall, TextDelta
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.errors import (
    ProviderBusy,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RunError,
)
from tests.agent.scripted import ScriptedProvider, broken, stalled
from tests.agent.virtual_time import run_at_once

CALL = ModelCall(model="small", messages=())
TIMEOUTS = Timeouts(first_token=60, between_tokens=20, total=100)
TICK = TextDelta("tick")


async def timed(provider, *, slow_reader=0.0):
    """Deltas, the error at the end, and the seconds it all took."""
    loop = asyncio.get_running_loop()
    start, seen, error = loop.time(), [], None
    try:
        async with aclosing(stream_model(provider, CALL, timeouts=TIMEOUTS)) as deltas:
            async for delta in deltas:
                seen.append(delta)
                await asyncio.sleep(slow_reader)
    except ProviderTimeout as caught:
        error = caught.public
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    return seen, error, round(loop.time() - start, 3)


class Ticking:
    """Says a word every so many seconds."""

    kind = label = "ticking"

    def __init__(self, *, every: float, words: int, delta: Delta | Alive = TICK) -> None:
        self.delta = delta
        self.every = every
        self.words = words

    async def stream(self, call) -> AsyncGenerator:
        for _ in range(self.words):
            await asyncio.sleep(self.every)
            yield self.delta
        yield Finish("stop")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "The model did not begin to answer within 60 seconds."),
        (["Hi"], "The model said nothing more for 20 seconds, so the answer was ended."),
    ],
)
def test_silence_ends_at_its_deadline(words, error):
    with ScriptedProvider([stalled(*words)]) as provider:
        deltas, told, seconds = run_at_once(timed(provider))
    assert deltas == [TextDelta(word) for word in words]
    assert told.startswith(error)
    assert seconds == (20 if words else 60)


@pytest.mark.parametrize(
    ("provider", "deltas", "error", "seconds"),
    [
        (Ticking(every=15, words=99), 6, "The answer was not finished within 100 seconds", 100),
        (Ticking(every=19, words=5), 6, None, 95),
        (Ticking(every=19, words=5, delta=ALIVE), 1, None, 95),
    ],
    ids=["without end", "in time", "fragments that say nothing yet"],
)
def test_words_in_time_reset_the_deadline_but_not_that_of_the_answer(
    provider, deltas, error, seconds
):
    found, told, took = run_at_once(timed(provider))
    assert (len(found), took) == (deltas, seconds)
    assert told == error if error is None else told.startswith(error)


def test_total_deadline_that_passed_while_the_reader_was_busy_ends_the_next_wait():
    provider = ScriptedProvider([stalled("a")])
    _, error, seconds = run_at_once(timed(provider, slow_reader=150))
    assert (error is not None, seconds) == (True, 150)


def test_cancellation_from_outside_stays_a_cancellation():
    async def cancelled():
        task = asyncio.ensure_future(timed(ScriptedProvider([stalled("a")])))
        await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_at_once(cancelled())


@pytest.mark.parametrize(
    ("failure", "attempts", "seconds"),
    [
        (broken(ProviderUnavailable("Down.")), 3, 3.0),
        (broken(ProviderRefused("No.")), 1, 0.0),
        (broken(ProviderBusy("Busy.", retry_after=7)), 3, 14.0),
        (broken(ProviderBusy("Busy.", retry_after=60)), 1, 0.0),
        (broken(ProviderUnavailable("Down."), "Half"), 1, 0.0),
    ],
)
def test_retry_twice_with_growing_pauses_if_it_can_help(failure, attempts, seconds, monkeypatch):
    monkeypatch.setattr("random.uniform", lambda shortest, longest: longest)

    async def run():
        provider = ScriptedProvider([failure] * 3)
        with pytest.raises(RunError):
            await timed(provider)
        return len(provider.calls), round(asyncio.get_running_loop().time() - 1000, 3)

    assert run_at_once(run()) == (attempts, seconds)
