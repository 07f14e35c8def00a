"""Entries of the trail, added in the transaction of the change that they describe.

Of a long text the changed part is kept with some context, and the hash of the whole: two prompts
stay distinguishable and an entry stays small. Secrets are compared, but only stored as "set".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
import getpass
import hashlib
from ipaddress import ip_address
import os
from pathlib import Path
import re
import sys
from typing import Any, Self

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import BinaryField, FileField, ForeignKey, Model
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from copilot_admin.audit.chain import canonical, compute_hash, signing_key
from copilot_admin.config.logs import without_secrets
from copilot_admin.models.audit import (
    MAX_NAME_LENGTH,
    MAX_USER_AGENT_LENGTH,
    Action,
    ActorKind,
    AuditEntry,
    AuditHead,
)
from protocol.json import Json
from protocol.redaction import is_secret_name, redact_text

MAX_VALUE_CHARACTERS = 2000  # of one value that is kept whole
CONTEXT_CHARACTERS = 100  # before and after the changed part of a longer value
MAX_NAME_CHARACTERS = 100  # longer keys are data, not names
_ABSENT = object()
# Names of encrypted or derived secrets, in addition to those that `protocol.redaction` knows.
_ENCRYPTED_NAME = re.compile(r"(?:.*_)?(?:cipher|digest|hash|salt|session_key|session_data)")

# Their names quote conversations, which are erased on request; the trail can't be.
MODELS_WITHOUT_NAME = (
    *("componentcall", "conversation", "evaluationrun", "legalhold", "removal", "run", "testcase"),
    *("transcriptexport", "turn", "turnnote", "verdict"),
)
_CONTROL_CHARACTERS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

Snapshot = Mapping[str, object]
MAX_ID_LENGTH = 64
SESSION_HASH_DIGITS = 16  # hexadecimal: enough to distinguish sessions
READ_INTERVAL = timedelta(minutes=10)  # paging through a list is one entry
FINGERPRINT_DIGITS = 16
PERSONAL_FILTERS = frozenset({"user"})  # their values name the person somebody looked for


@dataclass(frozen=True, slots=True)
class Secret:
    """Value that is compared, and shown only as "set" or "not set"."""

    value: object = field(repr=False)


def snapshot(row: Model) -> Snapshot:
    """Return all stored values of a row by field name; one query per many-to-many field."""
    options = row._meta
    # `auto_now` fields change with every save; the entry has its own time.
    fields = [one for one in options.concrete_fields if not getattr(one, "auto_now", False)]
    values = {one.name: _field_value(row, one) for one in fields}
    for many in options.many_to_many:
        values[many.name] = sorted(_describe(other) for other in getattr(row, many.name).all())
    return values


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, str]:
    """Return the JSON of the old and of the new values of the fields that differ."""
    was: dict[str, Json] = {}
    now: dict[str, Json] = {}
    for name in [*before, *(one for one in after if one not in before)]:
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if old == new:
            continue
        shown = _show_pair(name, old, new)
        was |= {} if old is _ABSENT else {name: shown[0]}
        now |= {} if new is _ABSENT else {name: shown[1]}
    return canonical(was), canonical(now)


def is_secret(name: str) -> bool:
    is_short = len(name) <= MAX_NAME_CHARACTERS
    return is_short and (is_secret_name(name) or _ENCRYPTED_NAME.fullmatch(name) is not None)


def to_json(value: object) -> Json:
    """Convert a value to JSON without secrets: members named like one become "set" or "not set"."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return without_secrets(redact_text(value))
        case float():
            return value if value - value == 0 else str(value)  # JSON has no NaN or infinity
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"  # not 0E-12
        case Mapping():
            return {
                str(key): ("set" if one else "not set") if is_secret(str(key)) else to_json(one)
                for key, one in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [to_json(one) for one in value]
        case _:
            return to_json(str(value))


def _field_value(row: Model, column: Any) -> object:
    stored = getattr(row, column.attname)
    if is_secret(column.name) or isinstance(column, BinaryField):
        return Secret(bytes(stored) if isinstance(stored, memoryview) else stored)
    if isinstance(column, ForeignKey):
        return None if stored is None else _describe(getattr(row, column.name))
    return (stored.name or "") if isinstance(column, FileField) else stored


def name_of(row: Model) -> str:
    """Return the display name of a row, as far as the trail may keep it."""
    if row._meta.model_name in MODELS_WITHOUT_NAME:
        return ""
    name = row.get_username() if isinstance(row, AbstractBaseUser) else str(row)
    return sanitize_line(name, MAX_NAME_LENGTH)


def sanitize_line(text: str, max_length: int) -> str:
    """Return the start of a text as one line; control and direction characters become spaces."""
    return _CONTROL_CHARACTERS.sub(" ", text[:max_length])


def _describe(row: Model) -> str:
    name = name_of(row)
    return f"{name} ({row.pk})" if name else str(row.pk)


def _show_pair(name: str, old: object, new: object) -> tuple[Json, Json]:
    if is_secret(name) or isinstance(old, Secret) or isinstance(new, Secret):
        values = (one.value if isinstance(one, Secret) else one for one in (old, new))
        had, has = (one is not _ABSENT and bool(one) for one in values)
        now = "changed" if had and has else "set" if has else "not set"
        return "set" if had else "not set", now
    shown = (None if one is _ABSENT else to_json(one) for one in (old, new))
    return _shorten_pair(*shown)


def _shorten_pair(old: Json, new: Json) -> tuple[Json, Json]:
    texts = [one if isinstance(one, str) else canonical(one) for one in (old, new)]
    if max(map(len, texts)) <= MAX_VALUE_CHARACTERS:
        return old, new
    start = _common_prefix(*texts)
    end = min(_common_prefix(*(one[::-1] for one in texts)), min(map(len, texts)) - start)
    part_old, part_new = (_excerpt(one, start, len(one) - end) for one in texts)
    return (None if old is None else part_old), (None if new is None else part_new)


def _common_prefix(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _excerpt(text: str, start: int, end: int) -> Json:
    first = max(start - CONTEXT_CHARACTERS, 0)
    return {
        "characters": len(text),
        "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "from": first,
        "part": text[first : min(end + CONTEXT_CHARACTERS, first + MAX_VALUE_CHARACTERS)],
    }


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
        head = AuditHead.objects.select_for_update().filter(pk=AuditHead.THE_ONE).first()
        if head is None:
            AuditHead.objects.get_or_create(pk=AuditHead.THE_ONE)
            head = AuditHead.objects.select_for_update().get(pk=AuditHead.THE_ONE)
        key, time = signing_key(), timezone.now()
        entry.sequence, entry.previous, entry.key_id = head.sequence + 1, head.hash, key.id
        entry.at = max(time, head.at or time)  # only grows, so that a period is a range of numbers
        entry.hash = compute_hash(entry, key)
        entry.save()
        head.sequence, head.at, head.hash = entry.sequence, entry.at, entry.hash
        head.save(update_fields=["sequence", "at", "hash"])
    return entry


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
