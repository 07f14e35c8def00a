"""Places are taken in turn, by tasks of any event loop."""

import asyncio
from contextlib import AsyncExitStack
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


class Holding:
    """Holds a place until it is told to let go."""

    def __init__(self, places, asker, name, order):
        self._places = places
        self._asker = asker
        self._name = name
        self._order = order
        self._done = asyncio.Event()
        self.task = asyncio.create_task(self._hold())

    async def _hold(self):
        async with self._places.one(self._asker):
            self._order.append(self._name)
            await self._done.wait()

    async def let_go(self):
        self._done.set()
        await self.task
        for _ in range(3):  # the next one is called, wakes up, and has its place
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("asked", "let_go", "order"),
    [
        # What others want comes before a second place for the same.
        ("aaab", "aa", "aaba"),
        ("aaabc", "ab", "aabca"),
        # While nobody else wants one, who asks has all there are.
        ("aaaa", "aa", "aaaa"),
        # Those who have none take turns as they came.
        ("aabcb", "aab", "aabcb"),
        # Who had some comes behind those who had none, also when it has given them all back.
        ("aaabc", "aab", "aabca"),
        ("abac", "ab", "abca"),
        # Several with many have one in turn, and who comes later with one waits for none of theirs.
        ("aabbccd", "aabc", "aabcdbc"),
    ],
)
def test_who_has_fewest_places_is_next(asked, let_go, order):
    async def ask():
        places, got = Places(2, waiting=9, seconds=HANGS_SECONDS), []
        askers = {name: object() for name in asked}
        holding = [Holding(places, askers[name], name, got) for name in asked]
        await asyncio.sleep(0)
        for name in let_go:
            await next(
                one for one in holding if one._name == name and not one._done.is_set()
            ).let_go()
        for one in holding:
            one._done.set()
        await asyncio.gather(*(one.task for one in holding))
        assert not places._held and not places._askers, "nobody is remembered"
        return "".join(got)

    assert asyncio.run(ask()).startswith(order)


async def looked_at(held, waiting):
    """Which of the places should be given back, where some are held and wanted: "L" for long."""
    places = Places(len(held), waiting=9, seconds=HANGS_SECONDS)
    async with AsyncExitStack() as stack:
        taken = [await stack.enter_async_context(places.one(is_long=one == "L")) for one in held]
        tasks = [asyncio.create_task(_take_and_leave(places, one == "L")) for one in waiting]
        await asyncio.sleep(0)
        looks = [
            places.is_wanted(one) if mark == "L" else None
            for one, mark in zip(taken, held, strict=True)
        ]
    await asyncio.gather(*tasks)
    return looks


async def _take_and_leave(places, is_long):
    async with places.one(is_long=is_long):
        pass


@pytest.mark.parametrize(
    ("held", "waiting", "looks"),
    [
        ("LL", "s", [False, True]),
        ("LLL", "Ls", [False, True, True]),
        ("LL", "", [False, False]),  # nobody wants one
        ("LL", "LL", [False, False]),  # who waits is in no hurry
        ("sL", "s", [None, False]),  # the other will be free soon
        ("L", "s", [False]),  # somebody comes to an end
    ],
)
def test_a_place_that_is_held_for_long_is_wanted_where_all_are_and_others_wait(
    held, waiting, looks
):
    assert asyncio.run(looked_at(held, waiting)) == looks


def test_who_wants_a_place_for_long_comes_behind_those_who_do_not():
    async def ask():
        places, order = Places(1, waiting=9, seconds=HANGS_SECONDS), []

        async def one(name):
            async with places.one(is_long=name.isupper()):
                order.append(name)

        async with places.one():
            tasks = [asyncio.create_task(one(name)) for name in "AbCd"]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return "".join(order)

    assert asyncio.run(ask()) == "bdAC"


def test_who_comes_anew_is_ahead_by_a_round_of_whoever_is_never_done_and_not_by_all_that_it_had():
    async def ask():
        places, order = Places(1, waiting=9, seconds=HANGS_SECONDS), []
        old = [Holding(places, "old", "o", order) for _ in range(7)]
        await asyncio.sleep(0)
        for one in old[:5]:
            await one.let_go()
        new = [Holding(places, "new", "n", order) for _ in range(4)]
        await asyncio.sleep(0)
        for one in (*old, *new):
            one._done.set()
        await asyncio.gather(*(one.task for one in (*old, *new)))
        return "".join(order)

    assert asyncio.run(ask()) == "oooooonnonn"


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
