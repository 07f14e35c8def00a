"""Rules, demands and a clock for tests of limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from copilot_admin.limits.admission import Admission, admit_asking
from copilot_admin.limits.book import BOOK
from copilot_admin.limits.demand import Demand, demand_of
from copilot_admin.limits.rules import LimitRule, rules_of
from copilot_admin.limits.subjects import Asking, LimitSubject
from copilot_admin.models import LimitScope
from copilot_admin.storage.writer import Deadline

SERVER = LimitSubject(LimitScope.SERVER)
COPILOT = LimitSubject(LimitScope.COPILOT, "3")
FAR = datetime(2100, 1, 1, tzinfo=UTC)  # Redis keeps no counter of a window that is over
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


class Clock:
    """Seconds since 1970, as a test says."""

    def __init__(self, now: datetime = NOON) -> None:
        self.seconds = now.timestamp()

    def __call__(self) -> float:
        return self.seconds


def rules(subject: LimitSubject = COPILOT, **limits: Any) -> tuple[LimitRule, ...]:
    return rules_of(subject, limits)


def rule(subject: LimitSubject = COPILOT, **limits: Any) -> LimitRule:
    [one] = rules(subject, **limits)
    return one


def demand(id: str = "a", *some: LimitRule, now: datetime = NOON) -> Demand:
    return demand_of(id, some, now=now, zone=UTC)


@contextmanager
def limited(limits: dict[LimitSubject, dict[str, Any]]) -> Iterator[None]:
    """Lets the book hold these limits."""
    with patch.object(BOOK, "_limits", limits), patch.object(BOOK, "_rules", {}):
        yield


async def ask(id: str = "a", **asking: Any) -> Admission:
    fields = {"copilot_id": 3, **asking}
    return await admit_asking(Asking(**fields), id=id, patience=Deadline())
