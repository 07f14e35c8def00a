"""What has to wait for others is done in the loop of the server, or in one of its own."""

import asyncio
from concurrent.futures import Future
from functools import partial

import pytest

from copilot_admin.storage.database_thread import JournalDown
from copilot_admin.upkeep import background
from copilot_admin.upkeep.background import BACKGROUND, in_loop
from tests.waiting import HANGS_SECONDS


async def here() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def timeout() -> None:
    raise TimeoutError("of the work")


async def forever(begun: "Future[None]", ended: "Future[None]") -> None:
    try:
        begun.set_result(None)
        await asyncio.Event().wait()
    finally:
        ended.set_result(None)


def test_a_server_does_it_in_its_own_loop_and_other_processes_in_one_that_ends():
    async def serve() -> bool:
        background.start()
        found = await asyncio.to_thread(lambda: in_loop(here()))
        stopped = await asyncio.to_thread(background.stop, timeout=HANGS_SECONDS)
        return found is asyncio.get_running_loop() and stopped

    assert asyncio.run(serve())
    assert in_loop(here()).is_closed()


def test_an_error_of_the_work_is_not_taken_for_waiting():
    async def serve() -> None:
        background.start()
        await asyncio.to_thread(lambda: in_loop(timeout()))

    with pytest.raises(TimeoutError, match="of the work"):
        asyncio.run(serve())


def test_a_server_that_stops_does_not_wait_for_it(monkeypatch):
    monkeypatch.setattr(background, "LOOK_SECONDS", 0.01)
    begun: Future[None] = Future()
    ended: Future[None] = Future()

    async def serve() -> BaseException | None:
        background.start()
        doing = BACKGROUND.submit(partial(lambda: in_loop(forever(begun, ended))))
        await asyncio.wrap_future(begun)
        assert await asyncio.to_thread(background.stop, timeout=HANGS_SECONDS)
        await asyncio.wrap_future(ended)
        return doing.exception()

    assert isinstance(asyncio.run(serve()), JournalDown)
