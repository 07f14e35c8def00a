"""Says when a limit is nearly reached: once in each of its windows, by one of the workers.

Whoever wants to be told besides the log adds himself to `LISTENERS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
import logging
import time
from typing import TypeAlias

from copilot_admin.limits.counting import COUNTING
from copilot_admin.limits.rules import LimitRule
from copilot_admin.limits.windows import BudgetPeriod, window_at
from copilot_admin.limits.zone import budget_zone

SHARE = 0.8
_MOST_SAID = 10_000  # that are remembered
_LOOK_AFTER_SECONDS = 1.0  # at a rate, of which only the counters know how much is used


@dataclass(frozen=True, slots=True, kw_only=True)
class NearLimit:
    """A limit of which 80 % are used.

    Attributes:
        ends: When its window ends.
    """

    rule: LimitRule
    used: int
    ends: datetime


Listener: TypeAlias = Callable[[NearLimit], None]
logger = logging.getLogger(__name__)


def write_line(near: NearLimit) -> None:
    """The line in the log; of a user or an address it has no name."""
    rule = near.rule
    percent = 100 * near.used // rule.most
    logger.warning("limit %s of %s: %d %% are used", rule.kind.key, rule.subject.told, percent)


LISTENERS: list[Listener] = [write_line]


class NearLimits:
    """Warns once when a limit is nearly used up, and remembers that it did."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._looked: dict[LimitRule, float] = {}

    async def look(self, used: Mapping[LimitRule, int]) -> None:
        """Tells of each rule of which 80 % are used, unless it was told."""
        for rule, number in used.items():
            if number >= SHARE * rule.most:
                await self._tell(rule, number)

    async def look_at_rate(self, rule: LimitRule) -> None:
        """The same of a rate; looks once a second at most."""
        now = time.monotonic()
        if now - self._looked.get(rule, -_LOOK_AFTER_SECONDS) < _LOOK_AFTER_SECONDS:
            return
        if len(self._looked) >= _MOST_SAID:
            self._looked.clear()
        self._looked[rule] = now
        stats = await COUNTING.rate(rule)
        await self.look({rule: rule.most - stats.remaining})

    def forget(self) -> None:
        """Forgets which warnings were given; for tests."""
        self._said.clear()
        self._looked.clear()

    async def _tell(self, rule: LimitRule, used: int) -> None:
        now = datetime.now(UTC)
        window = window_at(rule.kind.period or BudgetPeriod.MINUTE, now, budget_zone())
        key = f"{rule.subject.counter}:{rule.kind.key}:{rule.most}:{window.name}"
        if key in self._said:
            return
        if len(self._said) >= _MOST_SAID:
            self._said.clear()
        self._said.add(key)
        seconds = max(1, int((window.ends - now).total_seconds()))
        if await COUNTING.claim(key, seconds=seconds):
            for listener in LISTENERS:
                listener(NearLimit(rule=rule, used=used, ends=window.ends))


NEAR_LIMITS = NearLimits()
