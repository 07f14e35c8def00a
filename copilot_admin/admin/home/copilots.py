"""Cards of copilots on the home page, with their use of the last seven days."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Sum
from django.utils import timezone
from django.utils.safestring import SafeString

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.analytics.charts import N_COLORS, spark_bars
from copilot_admin.admin.copilots.header import image_url
from copilot_admin.analytics.metrics import SATISFACTION, Counts
from copilot_admin.copilots.status import CopilotState, CopilotStatus, status_of
from copilot_admin.models import Copilot, DailyTotal

MAX_CARDS = 6
DAYS = 7  # today included
COUNTED = ("questions", "runs", "errors", "up", "down")


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """Use of a copilot on each of seven days, the last one today."""

    days: Sequence[Counts] = field(default_factory=lambda: [Counts()] * DAYS)

    def sum(self, name: str, *, last: int = DAYS) -> int:
        return sum(int(day[name]) for day in self.days[-last:])

    @property
    def questions(self) -> int:
        return self.sum("questions")

    @property
    def satisfaction(self) -> float | None:
        return SATISFACTION.aggregate(Counts({name: self.sum(name) for name in ("up", "down")}))


class CopilotCard(NamedTuple):
    copilot: Copilot
    status: CopilotStatus
    week: Week
    image: str
    color: str
    spark: SafeString

    @property
    def percent_up(self) -> int | None:
        share = self.week.satisfaction
        return None if share is None else round(100 * share)

    @property
    def is_bad(self) -> bool:
        return SATISFACTION.is_bad(self.week.satisfaction)


class Copilots(NamedTuple):
    """All copilots in use that a user may see."""

    cards: Sequence[CopilotCard]  # of the most important ones
    statuses: Sequence[tuple[Copilot, CopilotStatus]]
    weeks: Mapping[int, Week]  # by copilot

    def in_state(self, state: CopilotState) -> list[tuple[Copilot, CopilotStatus]]:
        return [row for row in self.statuses if row[1].state is state]


def load_copilots(user: User) -> Copilots:
    """Load the copilots of a user in two queries, however many there are."""
    rows = reachable(user).in_use().select_related("provider", "live", "live__provider").by_name()
    statuses = [(copilot, status_of(copilot)) for copilot in rows]
    weeks = load_weeks()
    ranked = sorted(statuses, key=lambda row: _rank(row[0], row[1], weeks.get(row[0].pk)))
    shown = [(*row, weeks.get(row[0].pk, Week())) for row in ranked[:MAX_CARDS]]
    highest = max((int(day["questions"]) for *_, week in shown for day in week.days), default=0)
    cards = [_build_card(*row, highest) for row in shown]
    return Copilots(cards, statuses, weeks)


def _rank(copilot: Copilot, status: CopilotStatus, week: Week | None) -> tuple[bool, int, float]:
    """Put broken copilots first, then those that are asked most, then the newest drafts."""
    is_healthy = status.state is not CopilotState.BROKEN
    questions = week.questions if week else 0
    return is_healthy, -questions, -copilot.updated_at.timestamp()


def _build_card(copilot: Copilot, status: CopilotStatus, week: Week, highest: int) -> CopilotCard:
    color = f"ca-s{copilot.pk % N_COLORS + 1}"
    days = [int(day["questions"]) for day in week.days]
    spark = spark_bars(days, "ca-s1" if any(days) else "ca-s6", highest=highest)
    return CopilotCard(copilot, status, week, image_url(copilot), color, spark)


def load_weeks() -> dict[int, Week]:
    """Return the use of copilots by id; copilots without questions are missing. One query."""
    today = timezone.now().date()
    first = today - timedelta(days=DAYS - 1)
    rows = DailyTotal.objects.filter(day__gte=first, day__lte=today).order_by()
    days: dict[int, list[Counts]] = defaultdict(lambda: [Counts()] * DAYS)
    sums = rows.values_list("copilot", "day").annotate(*(Sum(name) for name in COUNTED))
    for copilot, day, *numbers in sums:
        counts = Counts(zip(COUNTED, numbers, strict=True))
        days[copilot][(day - first).days] = counts
    return {pk: Week(days=found) for pk, found in days.items()}
