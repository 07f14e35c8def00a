"""One timer serves all that wait."""

import asyncio
from collections.abc import Sequence

from copilot_admin.agent.llm.retries import LoopTurns, SharedSleep, Ticker
from tests.agent.virtual_time import run_at_once


def test_all_that_joined_are_served_together_and_once():
    served: list[list[str]] = []

    async def scenario() -> None:
        done = asyncio.Event()

        def serve(names: Sequence[str]) -> None:
            served.append(list(names))
            done.set()

        ticker = Ticker(0.001, serve)
        for names in (["one", "two"], ["three"]):
            for name in names:
                ticker.join(name, asyncio.get_running_loop())
            await done.wait()
            done.clear()

    asyncio.run(scenario())
    assert served == [["one", "two"], ["three"]]


def test_each_event_loop_has_a_ticker_of_its_own():
    served: list[list[int]] = []
    ticker = Ticker[int](3600, lambda numbers: served.append(list(numbers)))

    async def join(number: int, *, then: float) -> None:
        ticker.join(number, asyncio.get_running_loop())
        await asyncio.sleep(then)

    run_at_once(join(1, then=0))  # this loop ends before its tick
    run_at_once(join(2, then=3601))
    assert served == [[2]]


def test_all_tasks_that_wait_go_on_at_one_tick_and_those_that_left_harm_nobody():
    went_on: list[str] = []

    async def scenario() -> None:
        sleep = SharedSleep(0.01)

        async def wait(name: str) -> None:
            await sleep.wait(asyncio.get_running_loop())
            went_on.append(name)

        one, left, two = (asyncio.create_task(wait(name)) for name in ("one", "left", "two"))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.wait({one, left, two})
        await wait("later")

    asyncio.run(scenario())
    assert went_on == ["one", "two", "later"]


def test_what_takes_long_is_done_in_turns_of_the_loop_of_its_own():
    async def scenario() -> list[int]:
        turns, turn, went_on = LoopTurns(), 0, []
        loop = asyncio.get_running_loop()

        def count() -> None:
            nonlocal turn
            turn += 1
            loop.call_soon(count)

        async def work() -> None:
            await turns.wait(loop)
            went_on.append(turn)

        count()
        left, *others = [asyncio.create_task(work()) for _ in range(5)]
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.wait(others)
        await work()  # nobody holds the others up by leaving
        return went_on

    went_on = asyncio.run(scenario())
    assert len(set(went_on)) == len(went_on) == 5


def test_each_event_loop_has_turns_of_its_own():
    turns = LoopTurns()

    async def work() -> None:
        await asyncio.gather(*(turns.wait(asyncio.get_running_loop()) for _ in range(3)))

    asyncio.run(work())
    asyncio.run(work())
