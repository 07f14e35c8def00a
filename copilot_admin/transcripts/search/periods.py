"""Which hours figures are about, and with which they are compared. Pure; days are days of UTC."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
WEEK = timedelta(weeks=1)
LENGTHS = ("1", "7", "30", "90")  # days, today included
USUAL = "7"
OWN = "own"
LONGEST = 730  # days
# Above it weeks are shown: a chart of three series has as many bars as can be told apart (120).
LONGEST_BY_DAY = 40 * DAY


class Resolution(StrEnum):
    """The parts of a period that are shown one by one."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


@dataclass(frozen=True, slots=True)
class Span:
    """Hours from `first` on and before `end`, both at their full hour."""

    first: datetime
    end: datetime

    @property
    def last_day(self) -> date:
        """The day of its last hour."""
        return (self.end - HOUR).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresPeriod:
    """What figures are about.

    Attributes:
        name: One of `LENGTHS`, or `OWN`.
        now: Whole days; today is one, however late it is.
        before: As many days before; where today is in `now`, its last day ends at this hour too.
        by: The resolution that was asked for; None: that which suits its length.
        is_wrong: The dates that were given are none; the usual period stands for them.
    """

    name: str
    now: Span
    before: Span
    by: Resolution | None = None
    is_wrong: bool = False

    @property
    def resolution(self) -> Resolution:
        """The hours of one day, days, or weeks."""
        length = self.now.end - self.now.first
        if length == DAY:
            return Resolution.HOUR
        return self.by or (Resolution.DAY if length <= LONGEST_BY_DAY else Resolution.WEEK)

    @property
    def is_hourly(self) -> bool:
        return self.resolution is Resolution.HOUR

    @property
    def steps(self) -> list[Span]:
        """All of it, step by step; a week ends with Sunday, so those at its ends may be cut."""
        found = []
        by, at = self.resolution, self.now.first
        length = {Resolution.HOUR: HOUR, Resolution.DAY: DAY, Resolution.WEEK: WEEK}[by]
        while at < self.now.end:
            on = length - (at.weekday() * DAY if by is Resolution.WEEK else timedelta())
            found.append(Span(at, min(at + on, self.now.end)))
            at += on
        return found

    def step_of(self, moment: datetime) -> datetime:
        """The beginning of the step in which a moment is."""
        hour = moment.replace(minute=0, second=0, microsecond=0)
        if self.is_hourly:
            return hour
        day = hour.replace(hour=0)
        if self.resolution is Resolution.DAY:
            return day
        return max(day - day.weekday() * DAY, self.now.first)


def read_period(given: Mapping[str, str], *, at: datetime) -> FiguresPeriod:
    """The period that an address asks for: `days`, or dates `since` and `until`, both included; `by`."""
    today = at.astimezone(UTC).date()
    since, until = given.get("since", "").strip(), given.get("until", "").strip()
    by = {one.value: one for one in (Resolution.DAY, Resolution.WEEK)}.get(given.get("by", ""))
    if since or until:
        found = _of_dates(since, until, at=at) or _period(
            USUAL, today - (int(USUAL) - 1) * DAY, today, at=at, is_wrong=True
        )
        return replace(found, by=by)
    name = given.get("days", "")
    is_known = name in LENGTHS
    length = name if is_known else USUAL
    first = today - (int(length) - 1) * DAY
    usual = _period(length, first, today, at=at, is_wrong=bool(name) and not is_known)
    return replace(usual, by=by)


def _of_dates(since: str, until: str, *, at: datetime) -> FiguresPeriod | None:
    today = at.astimezone(UTC).date()
    try:
        last = min(date.fromisoformat(until), today) if until else today
        first = date.fromisoformat(since) if since else last
        if not (first <= last and (last - first).days < LONGEST):
            return None
        return _period(OWN, first, last, at=at)
    except (ValueError, OverflowError):
        return None


def _period(
    name: str, first: date, last: date, *, at: datetime, is_wrong: bool = False
) -> FiguresPeriod:
    now = Span(_midnight(first), _midnight(last) + DAY)
    length = now.end - now.first
    so_far = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + HOUR
    before = Span(now.first - length, min(now.end, so_far) - length)
    return FiguresPeriod(name=name, now=now, before=before, is_wrong=is_wrong)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
