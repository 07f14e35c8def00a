"""Limits of granting: nobody gives, or touches, more than they may do, and one administrator stays."""

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import Group, Permission, PermissionsMixin, User
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


def powers_of(holder: object) -> Powers:
    """Return what a user or role may do; a disabled user as if enabled, a stranger nothing."""
    if isinstance(holder, Group):
        held = Q(group=holder.pk)
    elif isinstance(holder, PermissionsMixin):
        held = Q(user=holder.pk) | Q(group__user=holder.pk)
        if holder.is_superuser:
            return Powers(frozenset(), is_everything=True)
    else:
        return Powers(frozenset())
    return Powers(frozenset(Permission.objects.filter(held).values_list("pk", flat=True)))


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
