"""One timer serves all that wait."""

import asyncio
from collections.abc import Sequence

from copilot_admin.engine.llm.ticker import Beat, Pulse


def test_all_that_joined_are_played_together_and_once():
    played: list[list[str]] = []

    async def scenario() -> None:
        done = asyncio.Event()

        def play(names: Sequence[str]) -> None:
            played.append(list(names))
            done.set()

        beat = Beat(0.001, play)
        for names in (["one", "two"], ["three"]):
            for name in names:
                beat.join(name, asyncio.get_running_loop())
            await done.wait()
            done.clear()

    asyncio.run(scenario())
    assert played == [["one", "two"], ["three"]]


def test_each_event_loop_has_a_beat_of_its_own():
    played: list[list[int]] = []
    beat = Beat[int](0.05, lambda numbers: played.append(list(numbers)))

    async def join(number: int) -> None:
        beat.join(number, asyncio.get_running_loop())

    asyncio.run(join(1))  # this loop ends before its beat
    loop = asyncio.new_event_loop()
    loop.run_until_complete(join(2))
    loop.run_until_complete(asyncio.sleep(0.1))
    loop.close()
    assert played == [[2]]


def test_all_tasks_that_wait_go_on_at_one_beat_and_those_that_left_harm_nobody():
    went_on: list[str] = []

    async def scenario() -> None:
        pulse = Pulse(0.01)

        async def wait(name: str) -> None:
            await pulse.wait(asyncio.get_running_loop())
            went_on.append(name)

        one, left, two = (asyncio.create_task(wait(name)) for name in ("one", "left", "two"))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.wait({one, left, two})
        await wait("later")

    asyncio.run(scenario())
    assert went_on == ["one", "two", "later"]
