"""Period of an analytics page: chosen by its length or by dates, and read in hours, days or weeks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
WEEK = timedelta(weeks=1)
LENGTHS = ("1", "7", "30", "90")  # days, today included
DEFAULT_LENGTH = "30"
OWN = "own"
MAX_DAYS = 730
# Longer periods are shown by weeks: a chart of three series then has 120 bars, which can be told apart.
MAX_SHOWN_BY_DAY = 40 * DAY
MIN_DAY = date(1970, 1, 1)


class Resolution(StrEnum):
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


@dataclass(frozen=True, slots=True)
class Span:
    """Full hours from `first` until before `end`."""

    first: datetime
    end: datetime

    @property
    def last_day(self) -> date:
        return (self.end - HOUR).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A period of whole days, and as many days before; if it includes today, until this hour too."""

    name: str  # one of `LENGTHS`, or `OWN`
    now: Span
    before: Span
    by: Resolution | None = None  # the requested one
    is_wrong: bool = False  # the given dates are not valid; this is the default period

    @property
    def resolution(self) -> Resolution:
        """Hours for one day, else days or weeks."""
        length = self.now.end - self.now.first
        if length == DAY:
            return Resolution.HOUR
        return self.by or (Resolution.DAY if length <= MAX_SHOWN_BY_DAY else Resolution.WEEK)

    @property
    def is_hourly(self) -> bool:
        return self.resolution is Resolution.HOUR

    @property
    def slots(self) -> list[Span]:
        """The slots of the period; weeks end on Sunday, so the first and the last may be shorter."""
        found = []
        by, at = self.resolution, self.now.first
        length = {Resolution.HOUR: HOUR, Resolution.DAY: DAY, Resolution.WEEK: WEEK}[by]
        while at < self.now.end:
            on = length - (at.weekday() * DAY if by is Resolution.WEEK else timedelta())
            found.append(Span(at, min(at + on, self.now.end)))
            at += on
        return found

    def slot_of(self, moment: datetime) -> datetime:
        hour = moment.replace(minute=0, second=0, microsecond=0)
        if self.is_hourly:
            return hour
        day = hour.replace(hour=0)
        monday = max(day - day.weekday() * DAY, self.now.first)
        return monday if self.resolution is Resolution.WEEK else day


def read_period(given: Mapping[str, str], *, at: datetime) -> Period:
    """Read the period of a URL: `days`, or dates `since` and `until`, both included; and `by`."""
    today = at.astimezone(UTC).date()
    since, until, name = (given.get(key, "").strip() for key in ("since", "until", "days"))
    has_dates = bool(since or until)
    length = name if name in LENGTHS and not has_dates else DEFAULT_LENGTH
    dates = _read_dates(since, until, today) if has_dates else None
    first, last = dates or (today - (int(length) - 1) * DAY, today)
    now = Span(_midnight(first), _midnight(last) + DAY)
    so_far = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + HOUR
    offset = now.end - now.first
    return Period(
        name=OWN if dates else length,
        now=now,
        before=Span(now.first - offset, min(now.end, so_far) - offset),
        by={one.value: one for one in (Resolution.DAY, Resolution.WEEK)}.get(given.get("by", "")),
        is_wrong=dates is None and (has_dates or name not in ("", *LENGTHS)),
    )


def _read_dates(since: str, until: str, today: date) -> tuple[date, date] | None:
    try:
        last = min(date.fromisoformat(until), today) if until else today
        first = date.fromisoformat(since) if since else last
    except ValueError:
        return None
    is_valid = MIN_DAY <= first <= last and (last - first).days < MAX_DAYS
    return (first, last) if is_valid else None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
