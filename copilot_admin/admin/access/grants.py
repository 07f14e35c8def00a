"""Limits of granting: nobody gives, or touches, more than they may do, and one administrator stays."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser, AnonymousUser, Group, Permission, User
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class Powers:
    """Everything that a user or role may do, as ids of permissions."""

    permissions: Collection[int]
    is_everything: bool = False  # of administrators: more than all permissions together

    def cover(self, others: "Powers") -> bool:
        if self.is_everything or others.is_everything:
            return self.is_everything
        return set(others.permissions) <= set(self.permissions)


def powers_of(user: AbstractUser | AnonymousUser) -> Powers:
    """Return what a user may do; a disabled one counts as enabled, since they may be again."""
    if user.is_superuser:
        return Powers(frozenset(), is_everything=True)
    return Powers(_ids(Permission.objects.filter(Q(user=user.pk) | Q(group__user=user.pk))))


def powers_of_group(group: Group) -> Powers:
    return Powers(_ids(group.permissions.all()))


def groups_within(powers: Powers) -> QuerySet[Group]:
    """Return the roles that somebody with these powers may grant."""
    if powers.is_everything:
        return Group.objects.all()
    beyond = Permission.objects.exclude(pk__in=powers.permissions)
    return Group.objects.exclude(permissions__in=beyond)


def permissions_within(powers: Powers) -> QuerySet[Permission]:
    """Return the permissions that somebody with these powers may grant."""
    rows = Permission.objects.all()
    return rows if powers.is_everything else rows.filter(pk__in=powers.permissions)


def would_leave_no_administrator(going: Collection[User]) -> bool:
    """Return whether no administrator who can sign in would be left without these users."""
    administrators = User.objects.filter(is_active=True, is_staff=True, is_superuser=True)
    left = set(administrators.values_list("pk", flat=True))
    gone = {user.pk for user in going}
    return bool(left & gone) and not left - gone


def last_administrator_text() -> str:
    return _("This is the last administrator. Make someone else an administrator first.")


def _ids(permissions: Iterable[Permission]) -> frozenset[int]:
    return frozenset(permission.pk for permission in permissions)
