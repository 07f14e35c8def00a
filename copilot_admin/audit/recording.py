"""Entries of the trail, added in the transaction of the change that they describe.

Actor and subject are text that outlives accounts and rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
import getpass
import hashlib
from ipaddress import ip_address
import os
from pathlib import Path
import sys
from typing import Self

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from copilot_admin.audit.chain import compute_hash, signing_key
from copilot_admin.audit.changes import changes, name_of, sanitize_line
from copilot_admin.models.audit import (
    MAX_NAME_LENGTH,
    MAX_USER_AGENT_LENGTH,
    Action,
    ActorKind,
    AuditEntry,
    AuditHead,
)

MAX_ID_LENGTH = 64
SESSION_HASH_DIGITS = 16  # hexadecimal: enough to distinguish sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    kind: ActorKind
    name: str  # of the account, or of the operating system's user
    id: int | None = None
    address: str = ""
    session: str = ""  # hash of the session key
    agent: str = ""  # User-Agent header, or the command

    @classmethod
    def of(cls, request: HttpRequest, user: AbstractBaseUser | None = None) -> Self:
        """Return the sender of a request; `user` replaces `request.user` around a sign-in."""
        account = user or getattr(request, "user", None)
        account = account if account is not None and account.pk is not None else None
        try:
            address = str(ip_address(request.META.get("REMOTE_ADDR", "").partition("%")[0]))
        except ValueError:  # a Unix socket has no address
            address = ""
        session = getattr(getattr(request, "session", None), "session_key", None) or ""
        return cls(
            kind=ActorKind.PERSON if account else ActorKind.STRANGER,
            name=sanitize_line(account.get_username(), MAX_NAME_LENGTH) if account else "",
            id=account.pk if account else None,
            address=address,
            session=session and hashlib.sha256(session.encode()).hexdigest()[:SESSION_HASH_DIGITS],
            agent=sanitize_line(request.META.get("HTTP_USER_AGENT", ""), MAX_USER_AGENT_LENGTH),
        )

    @classmethod
    def command(cls) -> Self:
        """Return the operating system's user who runs a management command.

        Only the command's name is kept: its arguments may hold secrets.
        """
        words = [Path(sys.argv[0]).name, *sys.argv[1:2]]
        try:
            user = getpass.getuser()
        except (KeyError, OSError):  # containers may run as a number without a name
            user = f"uid {os.getuid()}"
        return cls(
            kind=ActorKind.COMMAND,
            name=sanitize_line(user, MAX_NAME_LENGTH),
            agent=sanitize_line(" ".join(words), MAX_USER_AGENT_LENGTH),
        )

    @classmethod
    def server(cls) -> Self:
        """Return the server itself, for background work that no request caused."""
        return cls(kind=ActorKind.SERVER, name="server")


@dataclass(frozen=True, slots=True)
class Subject:
    """Row or part of the product that something is done to."""

    kind: str  # model name in lower case, or the name of a part
    id: str = ""  # primary key; empty for singletons
    name: str = ""

    @classmethod
    def of(cls, row: Model) -> Self:
        kind = row._meta.model_name or ""
        return cls(kind, str(row.pk if row.pk is not None else "")[:MAX_ID_LENGTH], name_of(row))


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
