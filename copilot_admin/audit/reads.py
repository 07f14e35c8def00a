"""Says in the trail who read what; once in ten minutes, so that paging through it is one entry."""

from collections.abc import Mapping
from datetime import timedelta

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone
from django.utils.crypto import salted_hmac

from copilot_admin.audit.actor import Actor
from copilot_admin.audit.changes import changes
from copilot_admin.audit.recording import record
from copilot_admin.audit.subject import Subject
from copilot_admin.models.audit import Action, AuditEntry

ONCE_IN = timedelta(minutes=10)
MARK_LENGTH = 16
PERSONAL_FILTERS = frozenset({"user"})  # whose values say whom somebody looked for


def record_read(
    action: Action, *, by: Actor, on: Subject, after: Mapping[str, object] | None = None
) -> None:
    """Adds an entry, unless this person has one just like it that is younger than ten minutes.

    Args:
        action: How it was read.
        by: Who reads.
        on: What is read; its content stands in no entry.
        after: Which part or view of it.
    """
    _none, told = changes({}, after or {})
    # A replica may not know yet of the entry of a moment ago.
    mine = AuditEntry.objects.using(DEFAULT_DB_ALIAS).filter(
        subject_kind=on.kind,
        subject_id=on.id,
        action=action,
        actor_id=by.id,
        actor_name=by.name,
        session=by.session,
        after=told,
        at__gt=timezone.now() - ONCE_IN,
    )
    if not mine.exists():
        record(action, by=by, on=on, after=after)


def record_search(by: Actor, kind: str, filters: Mapping[str, object], *, words: str = "") -> None:
    """Says that a list was looked at, with its filters. What was searched for is kept as a mark.

    Words may be those of a person whose data is erased later; the mark tells that somebody searched
    for the same again, and nobody reads or guesses them out of it without the server's key.
    """
    facts: dict[str, object] = {"filters": told_filters(filters)}
    if words:
        facts["words"] = {"characters": len(words), "mark": mark_of(words)}
    record_read(Action.SEARCHED, by=by, on=Subject(kind), after=facts)


def told_filters(filters: Mapping[str, object]) -> dict[str, object]:
    """Filters as the trail keeps them: of a user a mark, as he may be erased and the trail may not."""
    return {
        name: {"mark": mark_of(str(value))} if name in PERSONAL_FILTERS and value else value
        for name, value in filters.items()
    }


def mark_of(words: str) -> str:
    """Tells that two entries are of the same words, and nothing else of them."""
    mark = salted_hmac("copilot_admin.audit.reads", words, algorithm="sha256").hexdigest()
    return mark[:MARK_LENGTH]
