"""Places are taken in turn, by tasks of any event loop."""

import asyncio
from threading import Event, Thread

import pytest

from copilot_admin.agent.processes.places import Busy, Places
from tests.polling import HANGS_SECONDS


async def turns(places, names, order):
    async def one(name):
        async with places.one():
            order.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*map(one, names))


def test_who_waits_gets_a_place_in_turn():
    order = []
    asyncio.run(turns(Places(1, waiting=3, seconds=HANGS_SECONDS), "abcd", order))
    assert order == list("abcd")


def test_one_more_than_may_wait_is_refused():
    with pytest.raises(Busy):
        asyncio.run(turns(Places(1, waiting=2, seconds=HANGS_SECONDS), "abcd", []))


def test_who_waits_too_long_is_refused_and_the_place_stays_whole():
    async def wait():
        places = Places(1, waiting=1, seconds=0.001)
        async with places.one():
            with pytest.raises(Busy):
                async with places.one():
                    pass
        async with places.one():
            return "free"

    assert asyncio.run(wait()) == "free"


def test_who_leaves_while_a_place_comes_gives_it_to_the_next():
    async def leave():
        places, order = Places(1, waiting=2, seconds=HANGS_SECONDS), []
        async with places.one():
            leaving, next_one = (
                asyncio.create_task(turns(places, [name], order)) for name in ("leaving", "next")
            )
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait([leaving, next_one])
        return order

    assert asyncio.run(leave()) == ["next"]


def test_a_place_passes_from_one_event_loop_to_another():
    places, waits = Places(1, waiting=1, seconds=HANGS_SECONDS), Event()
    order = []

    async def wait_for_it():
        task = asyncio.create_task(turns(places, ["other"], order))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waits.set()
        await task

    async def hold():
        async with places.one():
            thread = Thread(target=lambda: asyncio.run(wait_for_it()))
            thread.start()
            await asyncio.to_thread(waits.wait, HANGS_SECONDS)
            order.append("mine")
        await asyncio.to_thread(thread.join, HANGS_SECONDS)

    asyncio.run(hold())
    assert order == ["mine", "other"]


def test_a_place_is_not_given_to_an_event_loop_that_has_ended():
    places = Places(1, waiting=1, seconds=HANGS_SECONDS)
    other = asyncio.new_event_loop()
    left = other.create_task(turns(places, ["gone"], []))

    async def hold():
        async with places.one():
            await asyncio.to_thread(other.run_until_complete, asyncio.sleep(0))
            await asyncio.to_thread(other.run_until_complete, asyncio.sleep(0))
            assert not left.done()
            left._log_destroy_pending = False
            other.close()
        left.get_coro().close()
        async with places.one():
            return places._free

    assert asyncio.run(hold()) == 0, "nor does it come back from there"
