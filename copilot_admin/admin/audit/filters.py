"""Filters and pages of the audit trail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from urllib.parse import urlencode

from copilot_admin.audit.chain import last_sequence_before
from copilot_admin.models.audit import Action, AuditEntry, AuditEntryQuerySet

LONGEST = 200  # characters of a filter


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilters:
    """What is looked for; empty texts are no filters.

    Attributes:
        who: A user name, as it was then.
        action: What was done.
        kind: Of the subject.
        subject: Its id.
        since: The first day, in UTC.
        until: The last day.
    """

    who: str = ""
    action: str = ""
    kind: str = ""
    subject: str = ""
    since: str = ""
    until: str = ""

    @property
    def chosen(self) -> Mapping[str, str]:
        """The filters that are set, by their names."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value}

    @property
    def unknown(self) -> tuple[str, ...]:
        """Filters whose value means nothing, so that nothing is found."""
        wrong = ["action"] if self.action and self.action not in Action.values else []
        wrong += [one for one in ("since", "until") if _is_no_day(getattr(self, one))]
        return tuple(wrong)


def read_audit_filters(given: Mapping[str, str]) -> AuditFilters:
    """The filters of an address; what it says besides is left alone."""
    names = [one.name for one in fields(AuditFilters)]
    return AuditFilters(**{one: str(given.get(one, "")).strip()[:LONGEST] for one in names})


def found(filters: AuditFilters) -> AuditEntryQuerySet:
    """The entries that are found, in no order yet."""
    rows = AuditEntry.objects.all()
    if filters.unknown:
        return rows.none()
    if filters.since:
        rows = rows.filter(sequence__gt=last_sequence_before(_begin_of(filters.since)))
    if filters.until:
        end = _begin_of(filters.until) + timedelta(days=1)
        rows = rows.filter(sequence__lte=last_sequence_before(end))
    if filters.who:
        rows = rows.filter(actor_name=filters.who)
    if filters.action:
        rows = rows.filter(action=filters.action)
    if filters.kind:
        rows = rows.filter(subject_kind=filters.kind)
    if filters.subject:
        rows = rows.filter(subject_id=filters.subject)
    return rows


def _is_no_day(text: str) -> bool:
    try:
        return bool(text) and date.fromisoformat(text) > date.max - timedelta(days=1)
    except ValueError:
        return True


def _begin_of(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), clock(), tzinfo=UTC)


OLDER, NEWER = "older", "newer"
SIZE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """Some entries, the newest first, and the ways to others.

    Attributes:
        older: The query of the next page; empty where there is none.
        newer: The query of the page before.
    """

    entries: Sequence[AuditEntry]
    older: str
    newer: str


def page_of(
    rows: AuditEntryQuerySet, place: Mapping[str, str], chosen: Mapping[str, str]
) -> AuditPage:
    """The page at a place.

    Args:
        rows: What is found.
        place: `older` or `newer` with the number of an entry; else the first page.
        chosen: The filters, which go with the ways.
    """
    newer, older = _number(place.get(NEWER)), _number(place.get(OLDER))
    rows = rows.defer("before", "after", "agent", "previous", "hash")
    if newer:
        near = list(rows.filter(sequence__gt=newer).order_by("sequence")[: SIZE + 1])
        shown = near[:SIZE][::-1]
        return _page(shown, chosen, has_older=True, has_newer=len(near) > SIZE)
    below = rows.filter(sequence__lt=older) if older else rows
    near = list(below.order_by("-sequence")[: SIZE + 1])
    return _page(near[:SIZE], chosen, has_older=len(near) > SIZE, has_newer=bool(older))


def _page(
    entries: Sequence[AuditEntry],
    chosen: Mapping[str, str],
    *,
    has_older: bool,
    has_newer: bool,
) -> AuditPage:
    return AuditPage(
        entries=entries,
        older=_query(chosen, OLDER, entries[-1]) if entries and has_older else "",
        newer=_query(chosen, NEWER, entries[0]) if entries and has_newer else "",
    )


def _query(chosen: Mapping[str, str], direction: str, entry: AuditEntry) -> str:
    return f"?{urlencode({**chosen, direction: entry.sequence})}"


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= 18 else 0
