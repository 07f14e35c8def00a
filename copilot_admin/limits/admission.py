"""Lets a request in, or says which limit it has reached; charges it when its answer has ended."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from copilot_admin.errors import TooManyRequests
from copilot_admin.limits.book import BOOK
from copilot_admin.limits.closed_rates import CLOSED_RATES
from copilot_admin.limits.counting import COUNTING
from copilot_admin.limits.demand import Charge, Demand, DemandAnswer, demand_of
from copilot_admin.limits.near_limits import NEAR_LIMITS
from copilot_admin.limits.rules import LimitMeasure, LimitRule
from copilot_admin.limits.sentences import refusal, seconds_until
from copilot_admin.limits.spent import spent
from copilot_admin.limits.subjects import Asking
from copilot_admin.limits.windows import window_at
from copilot_admin.limits.zone import budget_zone
from copilot_admin.storage.writer import READER, Deadline

_RETRY_SECONDS = 5  # for who waits for others' answers, which nobody knows the ends of
_TRIES = 3  # Redis may go away between a budget that it does not know and being told of it


class LimitExceeded(TooManyRequests):
    """A limit was reached.

    Attributes:
        rule: Which one.
    """

    def __init__(self, rule: LimitRule, *, now: datetime, again: datetime | None) -> None:
        super().__init__(
            refusal(rule, now=now, again=again, zone=budget_zone()),
            retry_after=seconds_until(again, now) if again else _RETRY_SECONDS,
        )
        self.rule = rule


@dataclass(slots=True)
class Admission:
    """A request that was let in.

    Attributes:
        demand: What it took; None: no limit is for it.
    """

    demand: Demand | None = None
    _has_ended: bool = field(default=False)

    @property
    def is_open(self) -> bool:
        """Whether it has something to give back."""
        return self.demand is not None and not self._has_ended

    @property
    def counts_money(self) -> bool:
        """Whether anybody wants to know what it costs."""
        budgets = self.demand.budgets if self.demand else ()
        return any(one.rule.kind.measure is LimitMeasure.USD for one in budgets)

    async def end(self, charge: Charge | None = None) -> None:
        """Gives back what it held, and charges what it took; a second time does nothing."""
        if self.demand is None or self._has_ended:
            return
        self._has_ended = True
        added = _charged(self.demand, charge) if charge else {}
        if not added and not self.demand.seats:
            return
        used = await COUNTING.leave(self.demand.id, seats=self.demand.seats, added=added)
        await _look(self.demand, used)


async def admit_asking(asking: Asking, *, id: str, deadline: Deadline) -> Admission:
    """Lets a request in.

    Args:
        asking: Who asks.
        id: Of the request.
        deadline: What is left of that of the request; a budget may have to be looked up.

    Raises:
        LimitExceeded: A limit is reached; nothing was taken.
        Unavailable: The database does not answer.
    """
    if BOOK.is_stale:
        await READER.run(BOOK.read, deadline)
    rules = BOOK.rules_for(asking)
    if not rules:
        return Admission()
    now = datetime.now(UTC)
    for rule in rules:
        again = CLOSED_RATES.until(rule, now)
        if again is not None:
            raise LimitExceeded(rule, now=now, again=again)
    demand = demand_of(id, rules, now=now, zone=budget_zone())
    is_settled = False
    try:
        await _take(demand, now, deadline)
        is_settled = True
    except LimitExceeded:  # it has nothing
        is_settled = True
        raise
    finally:
        if not is_settled:  # above all a client that leaves here: nobody else knows of its seats
            COUNTING.abandon(demand.id, demand.seats)
    return Admission(demand)


async def _take(demand: Demand, now: datetime, deadline: Deadline) -> None:
    """Takes all of it, or raises and takes nothing."""
    entry = await _entered(demand, deadline)
    if entry.full is not None:
        raise LimitExceeded(entry.full, now=now, again=_room_at(entry.full, now))
    await _take_rates(demand, now)
    if entry.used:
        await NEAR_LIMITS.look(entry.used)


async def charge_trial(copilot_id: int, charge: Charge) -> None:
    """Charges what a trial of a copilot took beside its answer, such as a model that judged it."""
    rules = BOOK.rules_for(Asking(copilot_id=copilot_id, is_trial=True))
    demand = demand_of("", rules, now=datetime.now(UTC), zone=budget_zone())
    added = _charged(demand, charge)
    if added:
        await _look(demand, await COUNTING.leave("", seats=(), added=added))


async def _look(demand: Demand, used: Mapping[str, int]) -> None:
    """Tells of budgets that are nearly used up."""
    budgets = {one.key: one.rule for one in demand.budgets}
    await NEAR_LIMITS.look({budgets[key]: n for key, n in used.items() if key in budgets})


async def _entered(demand: Demand, deadline: Deadline) -> DemandAnswer:
    """What the counters say; they are told of budgets that they know nothing of."""
    entry = DemandAnswer()
    for _ in range(_TRIES):
        entry = await COUNTING.enter(demand)
        if not entry.missing:
            break
        used = await READER.run(partial(spent, entry.missing), deadline)
        await COUNTING.begin(used)
    return entry


async def _take_rates(demand: Demand, now: datetime) -> None:
    """Counts the request, first of all where fewest are counted together."""
    for rule in demand.rates:
        if await COUNTING.hit(rule):
            await NEAR_LIMITS.look_at_rate(rule)
            continue
        back = {key: -number for key, number in demand.taken.items()}
        await COUNTING.leave(demand.id, seats=demand.seats, added=back)
        stats = await COUNTING.rate(rule)
        again = datetime.fromtimestamp(stats.reset_time, UTC)
        again = max(again, now + timedelta(milliseconds=1))
        CLOSED_RATES.close(rule, until=again)
        raise LimitExceeded(rule, now=now, again=again)


def _room_at(rule: LimitRule, now: datetime) -> datetime | None:
    if rule.kind.period is None:
        return None
    return window_at(rule.kind.period, now, budget_zone()).ends


def _charged(demand: Demand, charge: Charge) -> Mapping[str, int]:
    added: Counter[str] = Counter()
    for budget in demand.budgets:
        key, number = charge.on(budget)
        if number:
            added[key] += number
    return added
