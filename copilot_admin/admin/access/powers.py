"""How much somebody may do altogether: nobody hands out, or lays hands on, more than he has."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser, AnonymousUser, Group, Permission
from django.db.models import Q, QuerySet


@dataclass(frozen=True, slots=True)
class Powers:
    """What an account or a group may do.

    Attributes:
        permissions: Ids of permissions.
        is_everything: A superuser's: more than all permissions together.
    """

    permissions: Collection[int]
    is_everything: bool = False

    def cover(self, others: "Powers") -> bool:
        """Whether nothing is among the others that is not here too."""
        if self.is_everything or others.is_everything:
            return self.is_everything
        return set(others.permissions) <= set(self.permissions)


def powers_of(user: AbstractUser | AnonymousUser) -> Powers:
    """What an account may do; one that is not active counts as if it were, since it may be again."""
    if user.is_superuser:
        return Powers(frozenset(), is_everything=True)
    return Powers(_ids(Permission.objects.filter(Q(user=user.pk) | Q(group__user=user.pk))))


def powers_of_group(group: Group) -> Powers:
    """What a group lets its members do."""
    return Powers(_ids(group.permissions.all()))


def groups_within(powers: Powers) -> QuerySet[Group]:
    """The groups that somebody with these powers may hand out."""
    if powers.is_everything:
        return Group.objects.all()
    beyond = Permission.objects.exclude(pk__in=powers.permissions)
    return Group.objects.exclude(permissions__in=beyond)


def permissions_within(powers: Powers, among: QuerySet[Permission]) -> QuerySet[Permission]:
    """The permissions that somebody with these powers may hand out."""
    return among if powers.is_everything else among.filter(pk__in=powers.permissions)


def _ids(permissions: Iterable[Permission]) -> frozenset[int]:
    return frozenset(permission.pk for permission in permissions)
