"""Fetched files share a room, and whoever finds none waits a while and is told."""

import asyncio

import pytest

from copilot_admin.agent.fetching.room import FetchRoom, NoRoom
from tests.polling import HANGS_SECONDS


class File:
    """Takes room in steps and holds it until it is told to let go."""

    def __init__(self, room, *sizes, had=None):
        self._room = room
        self._sizes = sizes
        self.had = [] if had is None else had
        self.done = asyncio.Event()
        self.task = asyncio.create_task(self._fetched())

    async def _fetched(self):
        with self._room.held() as held:
            for size in self._sizes:
                await held.grow(size)
                self.had.append(size)
            await self.done.wait()

    async def let_go(self):
        self.done.set()
        await self.task


async def a_while():
    for _ in range(5):
        await asyncio.sleep(0)


def room_of(size, seconds=HANGS_SECONDS):
    return FetchRoom(size, seconds=seconds)


def test_who_finds_no_room_waits_for_it_in_turn():
    async def fetch():
        room, had = room_of(10), []
        files = [File(room, size, had=had) for size in (6, 5, 4, 1)]
        await a_while()
        assert had == [6], "the third would fit, but the second came first"
        await files[0].let_go()
        await a_while()
        assert had == [6, 5, 4, 1]
        for one in files[1:]:
            await one.let_go()
        await File(room, 10).let_go()

    asyncio.run(fetch())


def test_what_has_begun_grows_before_others_begin():
    async def fetch():
        room = room_of(10)
        first, growing, new = File(room, 4), File(room, 5, 7), File(room, 3)
        await a_while()
        assert (growing.had, new.had) == ([5], [])
        await first.let_go()
        await a_while()
        assert (growing.had, new.had) == ([5, 7], [3])
        await growing.let_go()
        await new.let_go()

    asyncio.run(fetch())


def test_what_is_known_to_be_smaller_gives_the_rest_back():
    async def fetch():
        room = room_of(10)
        with room.held() as held:
            await held.grow(8)
            waiting = File(room, 5)
            await a_while()
            assert waiting.had == []
            held.shrink(9)  # it is smaller already
            held.shrink(5)
            await a_while()
            assert waiting.had == [5]
            await held.grow(4)
            assert held.size == 5
            await waiting.let_go()

    asyncio.run(fetch())


def test_who_waits_too_long_is_told_and_the_room_stays_whole():
    async def fetch():
        room = room_of(10, seconds=0.001)
        with room.held() as held:
            await held.grow(8)
            late = File(room, 5)
            with pytest.raises(NoRoom):
                await late.task
        await File(room, 10).let_go()

    asyncio.run(fetch())


def test_what_is_larger_than_all_there_is_does_not_wait():
    with pytest.raises(NoRoom):
        asyncio.run(room_of(10).take(11, holds=0))


def test_where_all_room_is_held_by_who_waits_for_more_the_last_one_gives_its_back():
    async def fetch():
        room = room_of(10)
        with room.held() as first:
            await first.grow(6)
            with room.held() as last:
                await last.grow(4)
                growing, behind = asyncio.create_task(first.grow(8)), File(room, 1)
                await a_while()
                with pytest.raises(NoRoom):
                    await last.grow(5)
                assert not growing.done()
            await growing
        await behind.let_go()

    asyncio.run(fetch())


def test_who_leaves_lets_those_behind_it_go_first():
    async def fetch():
        room = room_of(10)
        first, large, small = File(room, 6), File(room, 8), File(room, 4)
        await a_while()
        large.task.cancel()
        await a_while()
        assert small.had == [4]
        await first.let_go()
        await small.let_go()

    asyncio.run(fetch())


def test_who_leaves_while_room_comes_gives_it_to_the_next():
    async def fetch():
        room = room_of(10)
        with room.held() as held:
            await held.grow(10)
            leaving, following = File(room, 10), File(room, 10)
            await a_while()
        leaving.task.cancel()
        await a_while()
        assert (leaving.had, following.had) == ([], [10])
        await following.let_go()

    asyncio.run(fetch())


def test_room_is_not_given_to_an_event_loop_that_has_ended():
    async def take(room):
        await room.take(10, holds=0)

    room, other = room_of(10), asyncio.new_event_loop()
    asyncio.run(take(room))
    left = other.create_task(take(room))
    other.run_until_complete(asyncio.sleep(0))
    left._log_destroy_pending = False
    other.close()
    room.give_back(10)
    asyncio.run(take(room))
