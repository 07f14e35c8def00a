"""Counters of one process: for a server of one worker, and while Redis is away."""

from collections.abc import Callable, Collection, Mapping
from threading import Lock
import time

from limits.aio.strategies import MovingWindowRateLimiter
from limits.util import WindowStats

from copilot_admin.limits.demand import Budget, Demand, DemandAnswer, rate_item, seat_key
from copilot_admin.limits.moving_window import ProcessWindows
from copilot_admin.limits.rules import LimitRule
from copilot_admin.models.limits import LimitScope

_SWEEP_AFTER = 1000  # entries: budgets of windows that are over are let go of
# Of addresses there is no end: beyond so many counters, some 40 MB, the oldest begin anew.
_MOST_OF_ADDRESSES = 100_000


class ProcessCounters:
    """What is used, in memory; threads may share it.

    Args:
        clock: Seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._rates = MovingWindowRateLimiter(ProcessWindows(clock))
        self._used: dict[str, tuple[int, float]] = {}  # with the moment of its end
        self._seats: dict[str, set[str]] = {}
        self._of_addresses: dict[str, None] = {}  # keys of the former; noted first is first
        self._until_sweep = _SWEEP_AFTER

    async def enter(self, demand: Demand) -> DemandAnswer:
        """Takes what a request takes by beginning, if there is room for all of it."""
        with self._lock:
            return self._entered(demand)

    async def leave(
        self, id: str, *, seats: Collection[LimitRule], added: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Gives seats back and adds to budgets that are known; says what is used of those."""
        with self._lock:
            self.stand_up(id, seats)
            used: dict[str, int] = {}
            for key, amount in added.items():
                if key in self._used:
                    number, until = self._used[key]
                    used[key] = number + amount
                    self._used[key] = (number + amount, until)
            return used

    async def begin(self, used: Mapping[Budget, tuple[int, int]]) -> None:
        """Tells what was used of budgets, and how many answers nobody knows the cost of."""
        with self._lock:
            for budget, (number, unpriced) in used.items():
                until = budget.window.ends.timestamp()
                self._used.setdefault(budget.key, (number, until))
                self._used.setdefault(budget.unpriced_key, (unpriced, until))
                if budget.rule.subject.scope is LimitScope.ADDRESS:
                    self._of_addresses |= {budget.key: None, budget.unpriced_key: None}
            while len(self._of_addresses) > _MOST_OF_ADDRESSES:
                oldest = next(iter(self._of_addresses))
                del self._of_addresses[oldest]
                self._used.pop(oldest, None)

    async def hit(self, rule: LimitRule) -> bool:
        """Counts a request of a rate, if there is room."""
        return await self._rates.hit(rate_item(rule), rule.subject.counter)

    async def rate(self, rule: LimitRule) -> WindowStats:
        """When a rate has room again, and how much there is."""
        return await self._rates.get_window_stats(rate_item(rule), rule.subject.counter)

    async def claim(self, key: str, *, seconds: int) -> bool:
        """Whether this is the first to say something; of one process it always is."""
        return True

    async def renew(self, seats: Mapping[str, Collection[LimitRule]]) -> None:
        """Does nothing: seats in memory end with their process, so none has to be renewed."""

    def known(self, keys: Collection[str]) -> Mapping[str, int]:
        """What is used, as far as it is known."""
        now = self._clock()
        return {
            key: self._used[key][0]
            for key in keys
            if key in self._used and self._used[key][1] > now
        }

    def taken(self, rule: LimitRule) -> int:
        """How many seats are taken."""
        return len(self._seats.get(seat_key(rule), ()))

    def sit_down(self, id: str, seats: Collection[LimitRule]) -> None:
        """Takes seats without asking: another counter has let the request in."""
        for rule in seats:
            self._seats.setdefault(seat_key(rule), set()).add(id)

    def stand_up(self, id: str, seats: Collection[LimitRule]) -> None:
        """Gives back the seats that an answer held."""
        for rule in seats:
            key = seat_key(rule)
            sitting = self._seats.get(key, set())
            sitting.discard(id)
            if not sitting:
                self._seats.pop(key, None)

    def forget_budgets(self) -> None:
        """Lets budgets be looked up again."""
        with self._lock:
            self._used.clear()
            self._of_addresses.clear()

    def forget_those(self, is_meant: Callable[[str], bool]) -> None:
        """Lets some budgets be looked up again, by the names of their counters."""
        with self._lock:
            self._used = {key: one for key, one in self._used.items() if not is_meant(key)}

    def forget(self) -> None:
        """Empties all counters; for tests."""
        clock = self._clock
        self.__init__(clock)  # type: ignore[misc]  # nothing else refers to its parts

    def _entered(self, demand: Demand) -> DemandAnswer:
        self._sweep()
        known = self.known([budget.key for budget in demand.budgets])
        for budget in demand.budgets:
            if known.get(budget.key, 0) >= budget.rule.most:
                return DemandAnswer(full=budget.rule)
        for rule in demand.seats:
            if self.taken(rule) >= rule.most:
                return DemandAnswer(full=rule)
        missing = tuple(one for one in demand.budgets if one.key not in known)
        if missing:
            return DemandAnswer(missing=missing)
        for budget in demand.budgets:
            number, until = self._used[budget.key]
            self._used[budget.key] = (number + budget.takes, until)
        self.sit_down(demand.id, demand.seats)
        used = {one.rule: known[one.key] + one.takes for one in demand.budgets}
        return DemandAnswer(used=used | {rule: self.taken(rule) for rule in demand.seats})

    def _sweep(self) -> None:
        self._until_sweep -= 1
        if self._until_sweep > 0:
            return
        self._until_sweep = _SWEEP_AFTER
        now = self._clock()
        self._used = {key: one for key, one in self._used.items() if one[1] > now}
        self._of_addresses = {key: None for key in self._of_addresses if key in self._used}
