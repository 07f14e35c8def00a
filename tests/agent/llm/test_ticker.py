"""One timer serves all that wait."""

import asyncio
from collections.abc import Sequence

from copilot_admin.agent.llm.ticker import SharedSleep, Ticker
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
