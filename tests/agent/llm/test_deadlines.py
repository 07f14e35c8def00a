"""A provider that is silent for too long is given up, and one that is slow is not."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.values.model_call import ALIVE, Alive, Delta, Finish, ModelCall, TextDelta
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.errors import ProviderBusy, ProviderRefused, ProviderTimeout, ProviderUnavailable
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


def test_silence_before_the_first_token_ends_at_its_deadline():
    with ScriptedProvider([stalled()]) as provider:
        assert run_at_once(timed(provider)) == (
            [],
            "The model did not begin to answer within 60 seconds. Ask again; if it happens again, "
            "the copilot's owner can raise the limit or pick another model.",
            60,
        )


def test_silence_between_tokens_ends_at_its_deadline():
    with ScriptedProvider([stalled("Hi")]) as provider:
        assert run_at_once(timed(provider)) == (
            [TextDelta("Hi")],
            "The model said nothing more for 20 seconds, so the answer was ended. Ask again.",
            20,
        )


def test_answer_without_end_is_ended_at_the_total_deadline():
    deltas, error, seconds = run_at_once(timed(Ticking(every=15, words=99)))
    assert (len(deltas), seconds) == (6, 100)
    assert error == (
        "The answer was not finished within 100 seconds and was ended. Ask for less at once."
    )


def test_words_in_time_reset_the_deadline():
    deltas, error, seconds = run_at_once(timed(Ticking(every=19, words=5)))
    assert (len(deltas), error, seconds) == (6, None, 95)


def test_fragments_that_say_nothing_yet_are_no_silence():
    deltas, error, seconds = run_at_once(timed(Ticking(every=19, words=5, delta=ALIVE)))
    assert (deltas, error, seconds) == ([Finish("stop")], None, 95)


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
    ("error", "attempts", "seconds"),
    [
        (ProviderUnavailable("Down."), 3, 3.0),
        (ProviderRefused("No."), 1, 0.0),
        (ProviderBusy("Busy.", retry_after=7), 3, 14.0),
        (ProviderBusy("Busy.", retry_after=60), 1, 0.0),
        (ProviderBusy("Busy.", retry_after=0), 3, 3.0),
    ],
)
def test_retry_twice_with_growing_pauses_if_it_can_help(error, attempts, seconds, monkeypatch):
    monkeypatch.setattr("random.uniform", lambda shortest, longest: longest)

    async def run():
        provider = ScriptedProvider([broken(error)] * 3)
        with pytest.raises(type(error)):
            await timed(provider)
        return len(provider.calls), round(asyncio.get_running_loop().time() - 1000, 3)

    assert run_at_once(run()) == (attempts, seconds)


def test_error_after_the_first_delta_is_not_tried_again():
    async def attempts():
        provider = ScriptedProvider([broken(ProviderUnavailable("Down."), "Half")])
        with pytest.raises(ProviderUnavailable):
            await timed(provider)
        return len(provider.calls)

    assert run_at_once(attempts()) == 1
