"""What somebody looks for in the trail, out of an address; and the entries that are found.

A period becomes a range of numbers first, since times go one way only: so each filter, alone or with a
period, is one walk along an index.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock

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
