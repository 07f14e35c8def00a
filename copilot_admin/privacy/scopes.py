"""Selection of data to erase or hold, and its audit entries, which name people by fingerprints."""

from dataclasses import asdict, dataclass, fields
from datetime import date, datetime, timedelta
import re

from django.db.models import Q

from copilot_admin.audit.recording import Actor, Subject, fingerprint, record
from copilot_admin.models import Action, LegalHold, Removal
from copilot_admin.models.privacy import ScopeColumns
from copilot_admin.transcripts.store.rollups import caller_of

NOTHING = Q(pk__in=[])
LAST_DAY = date.max - timedelta(days=1)  # a scope ends at the beginning of the next day
_KEY = re.compile(r"key:([0-9]{1,18})")
# Numbers and dates. The other values name people, who are forgotten when an erasure is done.
PLAIN_FIELDS = frozenset({"conversation", "copilot", "since", "until", "idle_before"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyScope:
    """Selection by all fields that are set; an empty scope would select everything, and is rejected."""

    conversation: int | None = None  # an id, as those of user and copilot
    user: int | None = None
    principal: str = ""  # the caller: `key:7` or `anonymous`
    copilot: int | None = None
    since: datetime | None = None  # active at this time or later
    until: datetime | None = None  # active before this time
    idle_before: datetime | None = None  # inactive since this time

    def __bool__(self) -> bool:
        return self != PrivacyScope()

    @property
    def is_of_user(self) -> bool:
        """True if it selects everything of a user."""
        return self.user is not None and self == PrivacyScope(user=self.user)


def scope_of(row: ScopeColumns) -> PrivacyScope:
    return PrivacyScope(
        **{one.name: getattr(row, one.name, None) for one in fields(PrivacyScope)}  # type: ignore[arg-type]
    )


def conversations_in(scope: PrivacyScope) -> Q:
    return _match(
        pk=scope.conversation,
        user_id=scope.user,
        principal=scope.principal,
        copilot_id=scope.copilot,
        last_at__gte=scope.since,
        first_at__lt=scope.until,
        last_at__lt=scope.idle_before,
    )


def loose_runs_in(scope: PrivacyScope) -> Q:
    if scope.conversation is not None:
        return NOTHING
    sender = _match(user_id=scope.user, principal=scope.principal, copilot_id=scope.copilot)
    return Q(conversation=None) & sender & _match_time(scope, "started_at")


def calls_in(scope: PrivacyScope) -> Q:
    key = _KEY.fullmatch(scope.principal)
    if scope.conversation is not None or (scope.principal and not key):
        return NOTHING
    found = _match(user_id=scope.user, copilot_id=scope.copilot, key_id=key and int(key[1]))
    return found & _match_time(scope, "created_at")


def caller_days_in(scope: PrivacyScope) -> Q:
    """Select rows of the rollup that names callers.

    It names the user, or the key of an unnamed one, so no row matches both.
    """
    if scope.conversation is not None or scope.idle_before is not None:
        return NOTHING
    if scope.user is not None and scope.principal:
        return NOTHING
    return _match(
        principal=caller_of(scope.user, scope.principal),
        copilot_id=scope.copilot,
        day__gte=scope.since and scope.since.date(),
        day__lt=scope.until and scope.until.date(),
    )


def _match(**conditions: object) -> Q:
    return Q(**{name: value for name, value in conditions.items() if value not in (None, "")})


def _match_time(scope: PrivacyScope, column: str) -> Q:
    end = min(filter(None, (scope.until, scope.idle_before)), default=None)
    return _match(**{f"{column}__gte": scope.since, f"{column}__lt": end})


def record_hold(hold: LegalHold, *, by: Actor) -> None:
    facts = {**describe_scope(scope_of(hold)), "reason": hold.reason}
    record(Action.HELD, by=by, on=Subject.of(hold), after=facts)


def record_release(hold_id: int, *, by: Actor) -> None:
    record(Action.RELEASED, by=by, on=Subject("legalhold", str(hold_id)))


def record_removal(removal: Removal, *, by: Actor) -> None:
    """Record the beginning of a removal; its row has the numbers of deleted rows."""
    facts = {
        **describe_scope(scope_of(removal)),
        "cause": removal.cause,
        "conversations": removal.total,
        "with_questions": removal.with_questions,
    }
    record(Action.ERASED, by=by, on=Subject.of(removal), after=facts)


def describe_scope(scope: PrivacyScope) -> dict[str, object]:
    """Return the non-empty fields of a scope, with fingerprints instead of people."""
    return {
        name: value if name in PLAIN_FIELDS else {"mark": fingerprint(str(value))}
        for name, value in asdict(scope).items()
        if value not in (None, "")
    }
