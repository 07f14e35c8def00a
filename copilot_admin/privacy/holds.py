"""Legal holds: placing, releasing, and selection of the held rows."""

from collections.abc import Callable
from dataclasses import asdict
from functools import reduce
import operator

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.models import ComponentCall, Conversation, Copilot, EndUser, LegalHold, Run
from copilot_admin.models.privacy import ERASED
from copilot_admin.privacy.scopes import (
    NOTHING,
    PrivacyScope,
    calls_in,
    conversations_in,
    loose_runs_in,
    scope_of,
)

# Number of the advisory lock that placing a hold takes exclusively, and each removal batch shared.
_LOCK = 7_204_511


def in_force() -> QuerySet[LegalHold]:
    return LegalHold.objects.filter(released_at=None)


@transaction.atomic
def place(scope: PrivacyScope, *, reason: str, by: str, by_id: int | None = None) -> LegalHold:
    """Hold what a scope selects now and later; waits for running removal batches.

    A ValueError says that the scope is empty, or names something that doesn't exist.
    """
    if not scope:
        raise ValueError(
            _("Select what to hold: a conversation, a user, a caller, a copilot or a period.")
        )
    if connection.vendor == "postgresql":  # SQLite has one writer
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    if scope.copilot is not None and not Copilot.objects.filter(pk=scope.copilot).exists():
        raise ValueError(_("Copilot %(id)s does not exist.") % {"id": scope.copilot})
    if scope.conversation is not None:
        row = Conversation.objects.select_for_update().filter(pk=scope.conversation)
        principal = row.values_list("principal", flat=True).first()
        if principal is None:
            raise ValueError(_("Conversation %(id)s does not exist.") % {"id": scope.conversation})
        if principal.startswith(ERASED):
            text = _("Conversation %(id)s is being removed already.")
            raise ValueError(text % {"id": scope.conversation})
    if scope.user is not None and not EndUser.objects.filter(pk=scope.user).exists():
        raise ValueError(_("This user does not exist any more."))
    columns = asdict(scope)
    del columns["idle_before"]  # of retention
    return LegalHold.objects.create(
        **columns,
        conversation_row_id=scope.conversation,
        user_row_id=scope.user,
        copilot_row_id=scope.copilot,
        reason=reason,
        placed_by_id=by_id,
        placed_by_name=by,
    )


def try_lock_holds() -> bool:
    """Try to take the shared legal-hold lock until the end of the transaction.

    Otherwise a hold could be stored between a batch's look at the holds and its commit. A batch doesn't
    wait, because it may have locked rows that the hold needs: False means that a hold is being placed.
    """
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock_shared(%s)", [_LOCK])
        [[is_locked]] = cursor.fetchall()
    return bool(is_locked)


def release(hold_id: int, *, by: str) -> bool:
    """Release a hold, whose row stays; return False if it wasn't in force."""
    rows = {"conversation_row": None, "user_row": None, "copilot_row": None}
    held = in_force().filter(pk=hold_id)
    number = held.update(released_at=timezone.now(), released_by_name=by, **rows)
    return bool(number)


def held(select: Callable[[PrivacyScope], Q]) -> Q:
    """Select the held rows of a table; `select` selects those of one scope."""
    return reduce(operator.or_, (select(scope_of(hold)) for hold in in_force()), NOTHING)


def holds_of(conversation: Conversation) -> list[LegalHold]:
    row = Conversation.objects.filter(pk=conversation.pk)
    return [hold for hold in in_force() if row.filter(conversations_in(scope_of(hold))).exists()]


def holds_on_copilot(copilot_id: int) -> list[LegalHold]:
    """Return the holds on a copilot or anything that belongs to it, newest first."""
    return [hold for hold in in_force() if _is_on_copilot(hold, copilot_id)]


def _is_on_copilot(hold: LegalHold, copilot_id: int) -> bool:
    if hold.copilot is not None:
        return hold.copilot == copilot_id
    scope = scope_of(hold)
    found = (
        Conversation.objects.filter(conversations_in(scope)),
        Run.objects.filter(loose_runs_in(scope)),
        ComponentCall.objects.filter(calls_in(scope)),
    )
    return any(rows.filter(copilot_id=copilot_id).exists() for rows in found)
