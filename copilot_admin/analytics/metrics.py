"""Metrics: what analytics count, how a value is calculated, and which direction is good."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from math import ceil
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.usage import TTFT_COLUMNS, TTFT_LIMITS

Number = int | Decimal


class Counts(dict[str, Number]):
    """Numbers of the rollups by column; `users` only where they were counted."""

    def __missing__(self, name: str) -> Number:
        return 0

    def with_users(self, users: int | None) -> "Counts":
        return self if users is None else Counts({**self, "users": users})


def add_counts(counts: Iterable[Counts]) -> Counts:
    """Return the sum; users can't be added, so they are left out."""
    sums = Counts()
    for one in counts:
        for name, number in one.items():
            if name != "users":
                sums[name] += number
    return sums


class Unit(StrEnum):
    NUMBER = "number"
    SHARE = "share"  # between 0 and 1
    SECONDS = "seconds"
    DOLLARS = "dollars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric, everywhere: as a card, as a series, in tables and files."""

    key: str
    label: str | Promise
    unit: Unit = Unit.NUMBER
    aggregate: Callable[[Counts], float | None]  # None if there is nothing to measure
    direction: int = 0  # 1 if more is good, -1 if less is good
    short: str | Promise = ""  # label in tables
    limit: float | None = None  # values on its wrong side are shown as bad
    filters: Mapping[str, str] | None = None  # of the list of conversations behind it

    def is_bad(self, value: float | None) -> bool:
        limit = self.limit
        return value is not None and limit is not None and (value - limit) * self.direction < 0


def _count(key: str, label: str | Promise, **options: Any) -> Metric:
    return Metric(key=key, label=label, aggregate=lambda counts: int(counts[key]), **options)


def _share(part: Number, whole: Number) -> float | None:
    return float(part) / float(whole) if whole else None


def _cost(counts: Counts) -> float | None:
    """Return the known cost; if no price is known it isn't 0."""
    return None if counts["unpriced"] and not counts["cost"] else float(counts["cost"])


def _first_words(key: str, label: str | Promise, share: float) -> Metric:
    def aggregate(counts: Counts) -> float | None:
        return percentile([int(counts[name]) for name in TTFT_COLUMNS], share)

    unit = Unit.SECONDS
    return Metric(key=key, label=label, short=key, unit=unit, aggregate=aggregate, direction=-1)


def percentile(counts: list[int], share: float) -> float | None:
    """Return the seconds within which a share of answers began, from a histogram.

    It interpolates within a step, whose end is 26 % above its begin.
    """
    total = sum(counts)
    if not total:
        return None
    wanted, seen = max(1, ceil(share * total)), 0
    for step, number in enumerate(counts):
        if seen + number >= wanted:
            low = TTFT_LIMITS[max(0, step - 1)]
            high = TTFT_LIMITS[min(step, len(TTFT_LIMITS) - 1)]
            place = (wanted - seen - 0.5) / number
            return float(low * (high / low) ** place / 1000)
        seen += number
    raise AssertionError("a share is at most 1")


QUESTIONS = _count("questions", _("Questions"), direction=1, filters={})
USERS = Metric(
    key="users",
    label=_("Users"),
    aggregate=lambda counts: int(counts["users"]) if "users" in counts else None,
    direction=1,
)
SATISFACTION = Metric(
    key="satisfaction",
    label=_("Satisfaction"),
    unit=Unit.SHARE,
    aggregate=lambda counts: _share(counts["up"], counts["up"] + counts["down"]),
    direction=1,
    limit=0.85,
    filters={"judged": "down"},
)
ERRORS = Metric(
    key="errors",
    label=_("Errors"),
    unit=Unit.SHARE,
    aggregate=lambda counts: _share(counts["errors"], counts["runs"]),
    direction=-1,
    limit=0.02,
    filters={"outcome": "any-failed"},
)
P50 = _first_words("p50", _("First words, p50"), 0.5)
P95 = _first_words("p95", _("First words, p95"), 0.95)
COST = Metric(key="cost", label=_("Cost"), unit=Unit.DOLLARS, aggregate=_cost)
CONVERSATIONS = _count("conversations", _("Conversations"), direction=1, filters={})
REQUESTS = _count("runs", _("Requests"))
UP = _count("up", _("Thumbs up"), direction=1, filters={"judged": "up"})
DOWN = _count("down", _("Thumbs down"), direction=-1, filters={"judged": "down"})
TOKENS = _count("tokens", _("Tokens"))
UNPRICED = _count("unpriced", _("Requests without a price"), filters={"unpriced": "yes"})

KEY_METRICS = (QUESTIONS, USERS, SATISFACTION, ERRORS, P50, COST)
TABLE_METRICS = (QUESTIONS, USERS, SATISFACTION, ERRORS, P50, P95, COST)
FILE_METRICS = (*TABLE_METRICS, CONVERSATIONS, REQUESTS, UP, DOWN, TOKENS, UNPRICED)
