"""Adding entries to the trail, in the transaction of the change that they describe."""

from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from copilot_admin.audit.chain import compute_hash, signing_key
from copilot_admin.audit.changes import changes
from copilot_admin.audit.parties import MAX_ID_LENGTH, Actor, Subject, sanitize_line
from copilot_admin.models.audit import MAX_NAME_LENGTH, Action, AuditEntry, AuditHead

READ_INTERVAL = timedelta(minutes=10)  # paging through a list is one entry
FINGERPRINT_DIGITS = 16
PERSONAL_FILTERS = frozenset({"user"})  # their values name the person somebody looked for


def record(
    action: Action,
    *,
    by: Actor,
    on: Subject,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> AuditEntry:
    """Add an entry. Call it last in the transaction of the change: other writers wait for its commit.

    `before` and `after` are values by field, such as a `snapshot`; only differences are stored. For
    reads and exports `after` holds the facts worth keeping.
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
        subject_id=sanitize_line(on.id, MAX_ID_LENGTH),
        subject_name=sanitize_line(on.name, MAX_NAME_LENGTH),
        before=was,
        after=now,
    )
    with transaction.atomic():
        _append(entry)
    return entry


def _append(entry: AuditEntry) -> None:
    head = AuditHead.objects.select_for_update().filter(pk=AuditHead.THE_ONE).first()
    if head is None:
        AuditHead.objects.get_or_create(pk=AuditHead.THE_ONE)
        head = AuditHead.objects.select_for_update().get(pk=AuditHead.THE_ONE)
    key, now = signing_key(), timezone.now()
    entry.sequence, entry.previous, entry.key_id = head.sequence + 1, head.hash, key.id
    entry.at = max(now, head.at or now)  # times only grow, so that a period is a range of numbers
    entry.hash = compute_hash(entry, key)
    entry.save()
    head.sequence, head.at, head.hash = entry.sequence, entry.at, entry.hash
    head.save(update_fields=["sequence", "at", "hash"])


def record_read(
    action: Action, *, by: Actor, on: Subject, after: Mapping[str, object] | None = None
) -> None:
    """Add an entry for a read, unless the same session has an equal one younger than ten minutes."""
    _, now = changes({}, after or {})
    recent = AuditEntry.objects.filter(
        subject_kind=on.kind,
        subject_id=on.id,
        action=action,
        actor_id=by.id,
        actor_name=by.name,
        session=by.session,
        after=now,
        at__gt=timezone.now() - READ_INTERVAL,
    )
    if not recent.exists():
        record(action, by=by, on=on, after=after)


def record_search(by: Actor, kind: str, filters: Mapping[str, object], *, words: str = "") -> None:
    """Add an entry for a filtered list; search words are stored as a keyed fingerprint.

    They may belong to a person who is erased later, and the trail can't be changed then.
    """
    facts: dict[str, object] = {"filters": hide_personal_filters(filters)}
    if words:
        facts["words"] = {"characters": len(words), "mark": fingerprint(words)}
    record_read(Action.SEARCHED, by=by, on=Subject(kind), after=facts)


def hide_personal_filters(filters: Mapping[str, object]) -> dict[str, object]:
    """Return filters with the values that name a person replaced by fingerprints."""
    return {
        name: {"mark": fingerprint(str(value))} if name in PERSONAL_FILTERS and value else value
        for name, value in filters.items()
    }


def fingerprint(words: str) -> str:
    """Return a keyed hash: equal words are recognised, and can't be guessed without the key."""
    mark = salted_hmac("copilot_admin.audit.reads", words, algorithm="sha256").hexdigest()
    return mark[:FINGERPRINT_DIGITS]
