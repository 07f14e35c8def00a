"""Nobody locks himself, or everybody, out: what stands in the way of taking accounts or their rights.

Superusers are locked until the transaction ends: of two who take each other's rights at the same
moment the second one waits, and then is the last.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils.translation import gettext as _

# Who has all of them gets in and may do everything.
MIGHTY = ("is_active", "is_staff", "is_superuser")


def refuse_to_leave_nobody(person: User, typed: Mapping[str, Any]) -> None:
    """Refuses what would leave nobody who may do everything.

    Args:
        person: As the account is stored.
        typed: What shall be stored; what is only shown is not among it.

    Raises:
        ValidationError: Nobody would be left.
    """
    rights = {name: (getattr(person, name), typed.get(name)) for name in MIGHTY}
    loses = any(now is False for _was, now in rights.values())
    if loses and all(was for was, _now in rights.values()) and _are_the_last([person]):
        raise ValidationError(_nobody_left(), code="last")


def obstacles_of(people: Collection[User], *, by: int | None) -> list[str]:
    """Why these accounts may not be deleted, a sentence each.

    Args:
        people: Those who would go.
        by: The account of whoever would delete them.
    """
    found = [
        _(
            "“%(name)s” is your own account. Let another operator delete it, so that somebody is "
            "left who can undo it."
        )
        % {"name": person}
        for person in people
        if person.pk == by
    ]
    if _are_the_last(people):
        found.append(_nobody_left())
    return found


def _are_the_last(people: Collection[User]) -> bool:
    mighty = User.objects.filter(**dict.fromkeys(MIGHTY, True)).order_by("pk")
    if connection.in_atomic_block:  # a page that only asks whether it is meant is in none
        mighty = mighty.select_for_update(no_key=True)
    left = set(mighty.values_list("pk", flat=True))
    going = {person.pk for person in people}
    return bool(left & going) and not left - going


def _nobody_left() -> str:
    return _("Nobody who may do everything would be left. Make somebody else a superuser first.")
