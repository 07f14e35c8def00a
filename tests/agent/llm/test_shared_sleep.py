"""One timer serves all that wait."""

import asyncio

from copilot_admin.agent.llm.shared_sleep import SharedSleep


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


def test_each_event_loop_has_a_tick_of_its_own():
    sleep = SharedSleep(0.001)

    async def wait() -> None:
        await sleep.wait(asyncio.get_running_loop())

    asyncio.run(wait())
    asyncio.run(wait())
