"""Legal holds: what they keep, who placed them, and which of them keep a conversation or a copilot."""

from collections.abc import Iterable

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.models import ComponentCall, Conversation, Copilot, EndUser, LegalHold, Run
from copilot_admin.models.privacy import ERASED
from copilot_admin.privacy.scopes import (
    PrivacyScope,
    caller_days_in,
    calls_in,
    conversations_in,
    loose_runs_in,
    scope_of,
)

# A lock of PostgreSQL that is no row: who removes and who places a hold know each other by its number.
_LOCK = 7_204_511


def in_force() -> QuerySet[LegalHold]:
    """The holds that have not been released."""
    return LegalHold.objects.filter(released_at=None)


@transaction.atomic
def place(scope: PrivacyScope, *, reason: str, by: str, by_id: int | None = None) -> LegalHold:
    """Holds what a scope means from now on, also what is asked later; waits for what is being removed.

    Args:
        scope: What may not be removed.
        reason: For whoever comes upon it.
        by: The name of who places it.
        by_id: His id, if he has an account.

    Raises:
        ValueError: The scope says nothing, or names what is not there.
    """
    if not scope:
        raise ValueError(
            _("Say what is to be held: a conversation, a user, a caller, a copilot or a period.")
        )
    if connection.vendor == "postgresql":  # SQLite has one writer
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    if scope.copilot is not None and not Copilot.objects.filter(pk=scope.copilot).exists():
        raise ValueError(_("There is no copilot %(id)s.") % {"id": scope.copilot})
    if scope.conversation is not None:
        _lock(scope.conversation)
    talk, user = scope.conversation, scope.user
    if user is not None and not EndUser.objects.filter(pk=user).exists():
        raise ValueError(_("This user is gone."))
    return LegalHold.objects.create(
        conversation=talk,
        conversation_row_id=talk,
        user=user,
        user_row_id=user,
        principal=scope.principal,
        copilot=scope.copilot,
        copilot_row_id=scope.copilot,
        since=scope.since,
        until=scope.until,
        reason=reason,
        placed_by_id=by_id,
        placed_by_name=by,
    )


def _lock(conversation_id: int) -> None:
    """Keeps removals from a conversation until its hold is stored; what is half gone cannot be held."""
    row = Conversation.objects.select_for_update().filter(pk=conversation_id)
    principal = row.values_list("principal", flat=True).first()
    if principal is None:
        raise ValueError(_("There is no conversation %(id)s.") % {"id": conversation_id})
    if principal.startswith(ERASED):
        text = _("Conversation %(id)s is being removed already.")
        raise ValueError(text % {"id": conversation_id})


def stay() -> bool:
    """Whether what is held is known, and stays so to the end of the transaction.

    A hold that is stored between the look at all of them and the commit of a removal would keep
    nothing of what that takes. Who removes does not wait for it: he may have rows that it needs.
    """
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock_shared(%s)", [_LOCK])
        [[are_known]] = cursor.fetchall()
    return bool(are_known)


def release(hold_id: int, *, by: str) -> bool:
    """Ends a hold; its row stays, and says who ended it.

    Returns:
        Whether it was in force.
    """
    ended = (
        in_force()
        .filter(pk=hold_id)
        .update(
            released_at=timezone.now(),
            released_by_name=by,
            conversation_row=None,
            user_row=None,
            copilot_row=None,
        )
    )
    return bool(ended)


def held_conversations() -> Q | None:
    """Which conversations some hold keeps; None: there is no hold."""
    return _any(conversations_in(scope_of(hold)) for hold in in_force())


def held_runs() -> Q | None:
    """Which runs without a conversation some hold keeps; None: none does."""
    return _any(loose_runs_in(scope_of(hold)) for hold in in_force())


def held_calls() -> Q | None:
    """Which calls of components some hold keeps; None: none does."""
    return _any(calls_in(scope_of(hold)) for hold in in_force())


def held_days() -> Q | None:
    """Which days, on which people are counted, some hold keeps; None: none does."""
    return _any(caller_days_in(scope_of(hold)) for hold in in_force())


def holds_of(conversation: Conversation) -> list[LegalHold]:
    """The holds that keep a conversation, the newest first."""
    row = Conversation.objects.filter(pk=conversation.pk)
    return [hold for hold in in_force() if row.filter(conversations_in(scope_of(hold))).exists()]


def holds_on_copilot(copilot_id: int) -> list[LegalHold]:
    """The holds that keep a copilot or anything that belongs to it, the newest first."""
    return [hold for hold in in_force() if _keeps(hold, copilot_id)]


def _keeps(hold: LegalHold, copilot_id: int) -> bool:
    if hold.copilot is not None:
        return hold.copilot == copilot_id
    scope = scope_of(hold)
    runs, calls = loose_runs_in(scope), calls_in(scope)
    return (
        Conversation.objects.filter(conversations_in(scope), copilot_id=copilot_id).exists()
        or (runs is not None and Run.objects.filter(runs, copilot_id=copilot_id).exists())
        or (
            calls is not None
            and ComponentCall.objects.filter(calls, copilot_id=copilot_id).exists()
        )
    )


def _any(parts: Iterable[Q | None]) -> Q | None:
    found: Q | None = None
    for part in parts:
        if part is not None:
            found = part if found is None else found | part
    return found
