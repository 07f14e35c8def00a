"""Selection of data to erase or hold: a conversation, a user, a caller, a copilot, a period."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Q

from copilot_admin.models.privacy import ScopeColumns
from copilot_admin.transcripts.store.rollups import person_of

KEY_START = "key:"
LAST_DAY = date.max - timedelta(days=1)  # a scope ends at the beginning of the next day


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyScope:
    """Selection by all fields that are set; an empty scope would select everything, and is rejected.

    Attributes:
        conversation: Its id.
        user: Id of the end user's row.
        principal: The caller: `key:7` or `anonymous`.
        copilot: Its id.
        since: Active at this time or later.
        until: Active before this time.
        idle_before: Inactive since this time.
    """

    conversation: int | None = None
    user: int | None = None
    principal: str = ""
    copilot: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    idle_before: datetime | None = None

    def __bool__(self) -> bool:
        return self != PrivacyScope()

    @property
    def is_of_user(self) -> bool:
        """True if it selects everything of a user."""
        return self.user is not None and self == PrivacyScope(user=self.user)


def scope_of(row: ScopeColumns) -> PrivacyScope:
    """Return the scope in the columns of a row."""
    return PrivacyScope(
        conversation=row.conversation,
        user=row.user,
        principal=row.principal,
        copilot=row.copilot,
        since=row.since,
        until=row.until,
        idle_before=getattr(row, "idle_before", None),
    )


def conversations_in(scope: PrivacyScope) -> Q:
    """Select the conversations of a scope."""
    found = _asked_by(scope)
    if scope.conversation is not None:
        found &= Q(pk=scope.conversation)
    if scope.since is not None:
        found &= Q(last_at__gte=scope.since)
    if scope.until is not None:
        found &= Q(first_at__lt=scope.until)
    if scope.idle_before is not None:
        found &= Q(last_at__lt=scope.idle_before)
    return found


def loose_runs_in(scope: PrivacyScope) -> Q | None:
    """Select runs without a conversation, such as refused ones; None if there can be none."""
    if scope.conversation is not None:
        return None
    return Q(conversation=None) & _asked_by(scope) & _happened(scope, "started_at")


def calls_in(scope: PrivacyScope) -> Q | None:
    """Select calls of components; None if there can be none."""
    if scope.conversation is not None:
        return None
    found = _happened(scope, "created_at")
    if scope.copilot is not None:
        found &= Q(copilot_id=scope.copilot)
    if scope.user is not None:
        found &= Q(user_id=scope.user)
    if scope.principal:
        key = scope.principal.removeprefix(KEY_START)
        if not (scope.principal.startswith(KEY_START) and key.isascii() and key.isdecimal()):
            return None
        found &= Q(key_id=int(key))
    return found


def caller_days_in(scope: PrivacyScope) -> Q | None:
    """Select rows of the rollup that names callers; None if there can be none.

    It names the user, or the key of an unnamed one, so no row matches both.
    """
    if scope.conversation is not None or scope.idle_before is not None:
        return None
    if scope.user is not None and scope.principal:
        return None
    person = scope.principal if scope.user is None else person_of(scope.user)
    found = Q(principal=person) if person else Q()
    if scope.copilot is not None:
        found &= Q(copilot_id=scope.copilot)
    if scope.since is not None:
        found &= Q(day__gte=scope.since.date())
    if scope.until is not None:
        found &= Q(day__lt=scope.until.date())
    return found


def _asked_by(scope: PrivacyScope) -> Q:
    found = Q()
    if scope.user is not None:
        found &= Q(user_id=scope.user)
    if scope.principal:
        found &= Q(principal=scope.principal)
    if scope.copilot is not None:
        found &= Q(copilot_id=scope.copilot)
    return found


def _happened(scope: PrivacyScope, column: str) -> Q:
    found = Q()
    if scope.since is not None:
        found &= Q(**{f"{column}__gte": scope.since})
    for end in (scope.until, scope.idle_before):
        if end is not None:
            found &= Q(**{f"{column}__lt": end})
    return found
