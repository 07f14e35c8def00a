"""What limits there are, and the rules that the limits of a subject make."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.limits.windows import BudgetPeriod

NANO = 1_000_000_000  # of a dollar: an answer of a small model costs some ten thousands of them


class LimitMeasure(StrEnum):
    """What a limit counts."""

    REQUESTS = "requests"
    CONCURRENT = "concurrent"
    TOKENS = "tokens"
    USD = "usd"


@dataclass(frozen=True, slots=True)
class LimitKind:
    """A kind of limit.

    Attributes:
        key: As files and forms name it.
        period: None: of what goes on at once.
    """

    key: str
    measure: LimitMeasure
    period: BudgetPeriod | None = None


KINDS: Mapping[str, LimitKind] = {
    kind.key: kind
    for kind in (
        LimitKind("concurrent", LimitMeasure.CONCURRENT),
        *(
            LimitKind(f"{measure.value}_per_{period.value}", measure, period)
            for measure in (LimitMeasure.REQUESTS, LimitMeasure.TOKENS, LimitMeasure.USD)
            for period in BudgetPeriod
        ),
    )
}


@dataclass(frozen=True, slots=True)
class LimitRule:
    """How much of something a subject may have.

    Attributes:
        most: Requests, answers or tokens; of money billionths of a dollar.
    """

    subject: LimitSubject
    kind: LimitKind
    most: int

    @property
    def is_rate(self) -> bool:
        """Whether it is of any 60 seconds, however they lie."""
        return (
            self.kind.measure is LimitMeasure.REQUESTS and self.kind.period is BudgetPeriod.MINUTE
        )

    @property
    def is_seat(self) -> bool:
        """Whether it is of what goes on at once."""
        return self.kind.measure is LimitMeasure.CONCURRENT

    @property
    def is_budget(self) -> bool:
        """Whether it is of a minute, day or month of the calendar."""
        return not self.is_rate and not self.is_seat

    @property
    def counts_requests(self) -> bool:
        """Whether every request takes one of it."""
        return self.kind.measure is LimitMeasure.REQUESTS


def rules_of(subject: LimitSubject, limits: Mapping[str, Any]) -> tuple[LimitRule, ...]:
    """The rules that limits make, as a file or a row has them; what is not set makes none."""
    return tuple(
        LimitRule(subject, kind, _most(kind, limits[key]))
        for key, kind in KINDS.items()
        if limits.get(key) is not None
    )


def nano(dollars: Decimal) -> int:
    """An amount of money as it is counted."""
    return int(dollars * NANO)


def _most(kind: LimitKind, number: Any) -> int:
    return nano(Decimal(str(number))) if kind.measure is LimitMeasure.USD else int(number)
