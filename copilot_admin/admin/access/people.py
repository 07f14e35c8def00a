"""Users and groups in the admin: operators look after people, superusers after superusers."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.generics import PersonModelAdmin
from copilot_admin.admin.common.guarded_lookups import GuardedLookups
from copilot_admin.admin.common.no_popups import NoPopups
from copilot_admin.admin.frame.site import site

# What makes a user mightier than any role; only who is that mighty may hand it out.
SUPERUSER_FIELDS = ("is_superuser", "user_permissions")
# What says what somebody may do; nobody but a superuser decides that about himself.
OWN_RIGHTS = ("is_active", "is_staff", "groups")


@admin.register(User, site=site)
class PersonAdmin(GuardedLookups, NoPopups, PersonModelAdmin):
    """The pages of users."""

    list_display = ("username", "email", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "groups")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": (("first_name", "last_name"), "email")}),
        (
            _("Rights"),
            {
                "fields": ("is_active", "is_staff", "groups", "is_superuser", "user_permissions"),
                "description": _(
                    "Who may log in here has “staff status”. Groups say what for: Builders make "
                    "copilots, Reviewers read transcripts, Operators look after everything else."
                ),
            },
        ),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Nobody but a superuser makes one, or changes his own rights; dates are facts."""
        facts = ("last_login", "date_joined")
        if _is_superuser(request):
            return facts
        own = OWN_RIGHTS if obj is not None and obj.pk == request.user.pk else ()
        return (*facts, *SUPERUSER_FIELDS, *own)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """A superuser is out of an operator's reach, password included."""
        return super().has_change_permission(request, obj) and _in_reach(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """A superuser is out of an operator's reach here too."""
        return super().has_delete_permission(request, obj) and _in_reach(request, obj)


@admin.register(Group, site=site)
class RoleAdmin(GuardedLookups, NoPopups, GroupAdmin):
    """The pages of groups."""

    filter_horizontal = ()


def _is_superuser(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_superuser


def _in_reach(request: HttpRequest, obj: User | None) -> bool:
    return obj is None or not obj.is_superuser or _is_superuser(request)
