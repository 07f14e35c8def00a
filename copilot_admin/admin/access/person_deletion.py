"""What stands in the way of deleting accounts: nobody locks himself, or everybody, out."""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.utils.translation import gettext as _


def obstacles_of(people: Collection[User], *, by: int | None) -> list[str]:
    """Why these accounts may not be deleted, a sentence each; reads the database.

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
        found.append(
            _("Nobody who may do everything would be left. Make somebody else a superuser first.")
        )
    return found


def _are_the_last(people: Collection[User]) -> bool:
    if not any(person.is_superuser and person.is_active for person in people):
        return False
    mighty = User.objects.filter(is_superuser=True, is_active=True)
    return not mighty.exclude(pk__in=[person.pk for person in people]).exists()
