"""Adds an entry to the trail, in the transaction of what it tells of."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from copilot_admin.audit.actor import Actor
from copilot_admin.audit.chain import hash_of
from copilot_admin.audit.changes import changes
from copilot_admin.audit.keys import signing_key
from copilot_admin.audit.subject import LONGEST_ID, Subject
from copilot_admin.audit.texts import line
from copilot_admin.models.audit import LONGEST_NAME, Action, AuditEntry, AuditHead

__all__ = ["Action", "Actor", "Subject", "record"]


def record(
    action: Action,
    *,
    by: Actor,
    on: Subject,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> AuditEntry:
    """Adds an entry. Call it last in the transaction of the change: others wait for its commit.

    Args:
        action: What is done.
        by: Who does it.
        on: What it is done to.
        before: What was, by field; a `snapshot` or what says it best. Only what differs is kept.
        after: What is. For what changes nothing, such as reading, what is worth knowing about it.
    """
    was, now = changes(before or {}, after or {})
    entry = AuditEntry(
        actor_kind=by.kind,
        actor_id=by.id,
        actor_name=by.name,
        address=by.address,
        session=by.session,
        agent=by.agent,
        action=action,
        subject_kind=on.kind,
        subject_id=line(on.id, LONGEST_ID),
        subject_name=line(on.name, LONGEST_NAME),
        before=was,
        after=now,
    )
    with transaction.atomic():
        _append(entry)
    return entry


def _append(entry: AuditEntry) -> None:
    """Makes it the newest one; nobody else adds one until the transaction ends."""
    head = AuditHead.objects.select_for_update().filter(pk=AuditHead.THE_ONE).first()
    head = head or _first_head()
    key = signing_key()
    now = timezone.now()
    entry.sequence, entry.previous, entry.key_id = head.sequence + 1, head.hash, key.id
    entry.at = max(now, head.at or now)  # a clock that is set back leaves the order as it is
    entry.hash = hash_of(entry, key)
    entry.save()
    head.sequence, head.at, head.hash = entry.sequence, entry.at, entry.hash
    head.save(update_fields=["sequence", "at", "hash"])


def _first_head() -> AuditHead:
    AuditHead.objects.get_or_create(pk=AuditHead.THE_ONE)
    return AuditHead.objects.select_for_update().get(pk=AuditHead.THE_ONE)
