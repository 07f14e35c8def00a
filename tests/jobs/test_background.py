"""What has to wait for others is done in the loop of the server, or in one of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from copilot_admin.jobs import background
from copilot_admin.jobs.background import BACKGROUND, beside, in_loop
from copilot_admin.storage.errors import DatabaseUnavailable
from tests.polling import HANGS_SECONDS


async def here() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


@asynccontextmanager
async def serving() -> AsyncIterator[None]:
    background.start(asyncio.get_running_loop())
    yield
    await background.leave()
    assert await asyncio.to_thread(background.stop, timeout=HANGS_SECONDS)


def test_a_worker_does_it_in_a_loop_that_ends():
    background.start()
    assert not background.is_server()
    assert in_loop(here()).is_closed()


def test_the_thread_goes_on_while_the_loop_of_the_server_waits():
    async def serve() -> None:
        async with serving():
            begun, go_on = asyncio.Event(), asyncio.Event()

            async def work() -> None:
                begun.set()
                await go_on.wait()

            loop = asyncio.get_running_loop()
            BACKGROUND.submit(lambda: beside(lambda: loop.create_task(work())))
            await begun.wait()
            assert BACKGROUND.submit(lambda: "done").result(HANGS_SECONDS) == "done"
            assert (background.is_server(), background.is_idle()) == (True, False)
            go_on.set()
        assert (background.is_server(), background.is_idle()) == (False, True)

    asyncio.run(serve())


def test_a_server_that_stops_does_not_wait_for_long(monkeypatch):
    monkeypatch.setattr(background, "LEAVE_SECONDS", 0.01)

    async def serve() -> bool:
        loop = asyncio.get_running_loop()
        async with serving():
            forever = asyncio.Event().wait()
            beside(lambda: loop.create_task(forever))
            await asyncio.sleep(0)
            assert not background.is_idle()
        return background.is_idle()

    assert asyncio.run(serve())


def test_a_server_that_is_gone_takes_nothing():
    background.start()
    with pytest.raises(DatabaseUnavailable):
        beside(lambda: pytest.fail("it has begun"))
    background.start(in_loop(here()))
    with pytest.raises(DatabaseUnavailable):
        beside(lambda: pytest.fail("it has begun"))
    background.start()
