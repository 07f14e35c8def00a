"""Access of people to copilots: members, or all builders if the copilot says so.

Without `COPILOT_MEMBERS` every builder reaches every copilot; the creator is recorded all the same.
"""

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Exists, OuterRef, Q

from copilot_admin.models import Copilot, Membership
from copilot_admin.models.copilots import CopilotQuerySet

Person = AbstractBaseUser | AnonymousUser
REACH_EVERY = "copilot_admin.reach_every_copilot"
PUBLISH = "copilot_admin.publish_copilot"
CHANGE = "copilot_admin.change_copilot"


def reachable(user: Person, rows: CopilotQuerySet | None = None) -> CopilotQuerySet:
    """Return the copilots among these, or among all, that a person may know of."""
    rows = Copilot.objects.using(DEFAULT_DB_ALIAS) if rows is None else rows
    if reaches_all(user):
        return rows
    own = Membership.objects.filter(copilot=OuterRef("pk"), user=user.pk or 0)
    return rows.filter(Q(is_for_all_builders=True) | Exists(own))


def is_reachable(user: Person, copilot_id: int) -> bool:
    """Return whether a person may know of a copilot; one that doesn't exist is reached by all."""
    if reaches_all(user):
        return True
    rows = Copilot.objects.using(DEFAULT_DB_ALIAS).filter(pk=copilot_id)
    return reachable(user, rows).exists() or not rows.exists()


def may_publish(user: Person) -> bool:
    """Return whether a person may publish and enable copilots."""
    return isinstance(user, PermissionsMixin) and user.has_perm(PUBLISH)


def assign_owner(copilot: Copilot, user: Person) -> None:
    """Record the creator of a copilot; with members, it is theirs alone at first."""
    with transaction.atomic():
        Membership.objects.get_or_create(
            copilot=copilot, user_id=user.pk or 0, defaults={"is_owner": True}
        )
        copilot.is_for_all_builders = not settings.MEMBERS
        Copilot.objects.filter(pk=copilot.pk).update(
            is_for_all_builders=copilot.is_for_all_builders
        )


def may_say_who(user: Person, copilot: Copilot) -> bool:
    """Return whether a user may choose the members of a copilot."""
    if not (isinstance(user, PermissionsMixin) and user.has_perm(CHANGE)):
        return False
    if user.has_perm(REACH_EVERY):
        return True
    owners = set(copilot.memberships.filter(is_owner=True).values_list("user_id", flat=True))
    return user.pk in owners if owners else is_reachable(user, copilot.pk)


def reaches_all(user: Person) -> bool:
    """Return whether a person may know of every copilot."""
    if not settings.MEMBERS:
        return True
    return isinstance(user, PermissionsMixin) and user.has_perm(REACH_EVERY)
