"""Counts for all workers together while Redis answers, and for this one alone while it does not.

No request waits for a Redis that is away: the first that notices waits for two seconds, the others
not at all, and housekeeping tries again.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
import logging
from typing import TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings
from limits.util import WindowStats

from copilot_admin.config.redis_faults import REDIS_FAULTS
from copilot_admin.limits.demand import Budget, Demand, DemandAnswer
from copilot_admin.limits.process_counters import ProcessCounters
from copilot_admin.limits.redis_counters import RedisCounters
from copilot_admin.limits.rules import LimitRule

SECONDS = 2.0  # for an answer of Redis, which takes a fraction of a millisecond; a busy loop hears it late
AWAY = "limits are counted for each worker alone: Redis does not answer"

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Counting:
    """The counters of this process, and those it shares.

    Args:
        url: Of the Redis; "" if there is none.
        own: The counters of this process.
    """

    def __init__(self, url: str, own: ProcessCounters | None = None) -> None:
        self.own = own or ProcessCounters()
        self._url = url
        self._shared: WeakKeyDictionary[asyncio.AbstractEventLoop, RedisCounters] = (
            WeakKeyDictionary()
        )
        self._is_away = False
        self._held: dict[str, tuple[LimitRule, ...]] = {}  # seats by the id of their request
        self._giving_back: set[asyncio.Task[None]] = set()
        self._owed: Counter[str] = Counter()  # what Redis was not told while it was away

    @property
    def problem(self) -> str:
        """Why limits may be exceeded at the moment; empty while they are kept."""
        return AWAY if self._is_away else ""

    async def enter(self, demand: Demand) -> DemandAnswer:
        """Takes what a request takes by beginning, if there is room for all of it."""
        entry = await self._asked(lambda shared: shared.enter(demand))
        if entry is None:
            entry = await self.own.enter(demand)
        elif entry.full is None and not entry.missing:
            self.own.sit_down(demand.id, demand.seats)
        if demand.seats and entry.full is None and not entry.missing:
            self._held[demand.id] = demand.seats
        return entry

    async def leave(
        self, id: str, *, seats: Collection[LimitRule], added: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Gives seats back and adds to budgets that are known; says what is used of those."""
        self._held.pop(id, None)
        self.own.stand_up(id, seats)
        used = await self._asked(lambda shared: shared.leave(id, seats=seats, added=added))
        if used is None:
            if self._url:
                self._owed.update(added)
            used = await self.own.leave(id, seats=(), added=added)
        return used

    def abandon(self, id: str, seats: Collection[LimitRule]) -> None:
        """Gives back seats that somebody may have, who waits for nothing any more.

        The shared ones would run out by themselves, after half a minute in which others miss them.
        """
        self._held.pop(id, None)
        self.own.stand_up(id, seats)
        if self._url and seats and not self._is_away:
            task = asyncio.get_running_loop().create_task(self._give_back(id, seats))
            self._giving_back.add(task)
            task.add_done_callback(self._giving_back.discard)

    async def begin(self, used: Mapping[Budget, tuple[int, int]]) -> None:
        """Tells what was used of budgets, and how many answers nobody knows the cost of."""
        if await self._asked(lambda shared: _done(shared.begin(used))) is None:
            await self.own.begin(used)

    async def hit(self, rule: LimitRule) -> bool:
        """Counts a request of a rate, if there is room."""
        hit = await self._asked(lambda shared: shared.hit(rule))
        return await self.own.hit(rule) if hit is None else hit

    async def rate(self, rule: LimitRule) -> WindowStats:
        """When a rate has room again, and how much there is."""
        stats = await self._asked(lambda shared: shared.rate(rule))
        return await self.own.rate(rule) if stats is None else stats

    async def claim(self, key: str, *, seconds: int) -> bool:
        """Whether this is the first of all workers to say something."""
        claimed = await self._asked(lambda shared: shared.claim(key, seconds=seconds))
        return True if claimed is None else claimed

    async def look_after(self) -> None:
        """Keeps the seats that are taken, and looks whether Redis is back."""
        shared = self._of_this_loop()
        if shared is None:
            return
        try:
            async with asyncio.timeout(SECONDS):
                await shared.ping()
                await self._renew(shared)
                if self._is_away:
                    await self._come_back(shared)
        except REDIS_FAULTS as error:
            self._lose(error)

    async def close(self) -> None:
        """Closes the connections of this event loop."""
        shared = self._shared.pop(asyncio.get_running_loop(), None)
        if shared is not None:
            await shared.aclose()

    def forget(self) -> None:
        """Forgets everything that was counted or held; for tests."""
        self.own.forget()
        self._held.clear()
        self._owed.clear()
        self._is_away = False

    async def _give_back(self, id: str, seats: Collection[LimitRule]) -> None:
        await self._asked(lambda shared: shared.leave(id, seats=seats, added={}))

    async def _asked(self, ask: Callable[[RedisCounters], Awaitable[T]]) -> T | None:
        """What Redis says; None: there is none, or it is away."""
        shared = None if self._is_away else self._of_this_loop()
        if shared is None:
            return None
        try:
            async with asyncio.timeout(SECONDS):
                return await ask(shared)
        except REDIS_FAULTS as error:
            self._lose(error)
            return None

    def _of_this_loop(self) -> RedisCounters | None:
        if not self._url:
            return None
        loop = asyncio.get_running_loop()
        shared = self._shared.get(loop)
        if shared is None:
            shared = self._shared[loop] = RedisCounters(self._url, seconds=SECONDS)
        return shared

    def _lose(self, error: BaseException) -> None:
        if self._is_away:
            return
        self._is_away = True
        self.own.forget_budgets()  # of an earlier time; they are looked up
        # Only the class: the message quotes the address, which may have a password.
        logger.error("Redis does not answer (%s): %s", type(error).__name__, AWAY)

    async def _renew(self, shared: RedisCounters) -> None:
        """Keeps the seats of who is there; whoever left meanwhile may have been given his again."""
        held = dict(self._held)
        await shared.renew(held)
        for id in held.keys() - self._held.keys():
            await shared.leave(id, seats=held[id], added={})

    async def _come_back(self, shared: RedisCounters) -> None:
        owed = dict(self._owed)
        await shared.leave("", seats=(), added=owed)
        self._owed.subtract(owed)
        self._owed = Counter({key: number for key, number in self._owed.items() if number})
        self._is_away = False
        logger.warning("Redis answers again: limits are counted for all workers together")


async def _done(work: Awaitable[None]) -> bool:
    await work
    return True


COUNTING = Counting(settings.REDIS_URL)
