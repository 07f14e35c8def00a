"""Users and groups in the admin: whoever looks after people does so up to his own rights."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.external_accounts import is_external
from copilot_admin.admin.access.forms import GroupForm, PersonForm
from copilot_admin.admin.access.lockout import obstacles_of
from copilot_admin.admin.access.powers import (
    Powers,
    groups_within,
    permissions_within,
    powers_of,
    powers_of_group,
)
from copilot_admin.admin.access.rights import RightsField
from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.common.widgets import SwitchesWidget, Text
from copilot_admin.admin.logins.log_in_rows import carried_out, rows_of
from copilot_admin.admin.site.site import site
from copilot_admin.audit.changes import Snapshot
from copilot_admin.config.roles import ROLES
from copilot_admin.models import Action

# What makes a user mightier than any role; only who is that mighty may hand it out.
SUPERUSER_FIELDS = ("is_superuser", "user_permissions")
# What says what somebody may do; nobody but a superuser decides that about himself.
OWN_RIGHTS = ("is_active", "is_staff", "groups")
# What the firm's log-in says; here it is only shown, to superusers too.
GIVEN_OUTSIDE = ("is_staff", "groups", "is_superuser")
_ROLE_WORDS: Mapping[str, Text] = {name: role.description for name, role in ROLES.items()}


@admin.register(User, site=site)
class PersonAdmin(BaseAdmin[User], UserAdmin[User]):
    """The pages of users."""

    form = PersonForm
    list_display = ("username", "email", "is_active", "may_log_in", "comes_from", "last_login")
    search_help_text = _("Username, name or e-mail address")
    list_select_related = ("external",)
    change_form_template = "admin/copilot_admin/person/change_form.html"
    list_filter = ("is_active", "groups")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": (("first_name", "last_name"), "email", "comes_from")}),
        (
            _("Rights"),
            {
                "fields": ("is_active", "is_staff", "groups", "is_superuser"),
                "description": _(
                    "You can give what you may do yourself; who may do everything can give everything."
                ),
            },
        ),
        (_("More rights"), {"fields": ("user_permissions",), "classes": ("collapse",)}),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )

    @admin.display(description=_("May log in here"), boolean=True, ordering="is_staff")
    def may_log_in(self, person: User) -> bool:
        return person.is_staff

    @admin.display(description=_("Account"))
    def comes_from(self, person: User) -> str:
        """Who vouches for the account, and so says which roles it has."""
        if not is_external(person):
            return gettext("of this server")
        text = gettext("of %(issuer)s, which says its roles; they are read again at each log-in")
        return text % {"issuer": person.external.issuer}

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = path("<id:pk>/log-ins/", wrap(self.log_ins_view), name="auth_user_log_ins")
        return [own, *super().get_urls()]

    def log_ins_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Where somebody is logged in, and the end of it, for whoever may change him."""
        person = get_object_or_404(User, pk=pk)
        if not self.has_change_permission(request, person):
            raise PermissionDenied
        if request.method == "POST":
            self.log_change(request, person, "Ended log-ins.")
            return carried_out(request, person, back=request.path)
        context = {
            **self.page_context(request, gettext("Where %(name)s is logged in") % {"name": person}),
            "rows": rows_of(request, person),
            "person": person,
            "is_own": person.pk == request.user.pk,
        }
        return render(request, "admin/copilot_admin/log_ins.html", context)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        facts = ("last_login", "date_joined", "comes_from")
        if is_external(obj):
            return (*facts, *GIVEN_OUTSIDE, *(() if _is_superuser(request) else SUPERUSER_FIELDS))
        if _is_superuser(request):
            return facts
        own = OWN_RIGHTS if obj is not None and obj.pk == request.user.pk else ()
        return (*facts, *SUPERUSER_FIELDS, *own)

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        if obj is None or (self.has_change_permission(request, obj) and not is_external(obj)):
            return shown
        first = (shown[0][0], {**shown[0][1], "fields": ("username",)})
        return (first, *shown[1:])

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "groups":
            groups = groups_within(_own(request)).order_by("name")
            told = {str(group.pk): _ROLE_WORDS.get(group.name, "") for group in groups}
            options |= {"queryset": groups, "widget": SwitchesWidget(told)}
        if db_field.name == "user_permissions":
            options["form_class"] = RightsField
        return super().formfield_for_manytomany(db_field, request, **options)

    def user_change_password(
        self,
        request: HttpRequest,
        id: str,
        form_url: str = "",  # Django calls it so
    ) -> HttpResponse:
        """Sets a password, and says so in the trail, in one transaction.

        A password is for accounts of this server alone.
        """
        if is_external(self.get_object(request, unquote(id))):
            raise PermissionDenied
        with transaction.atomic():
            return super().user_change_password(request, id, form_url)

    def action_of(self, before: Snapshot, after: Snapshot) -> Action:
        """A change of the password alone has a name of its own."""
        changed = {name for name, value in after.items() if before[name] != value}
        return Action.PASSWORD_CHANGED if changed == {"password"} else Action.CHANGED

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and _reaches(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _reaches(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Also says why an account has to stay, on its own page and for those of the list."""
        shown, counts, missing, obstacles = super().get_deleted_objects(objs, request)
        own = obstacles_of(list(objs), by=request.user.pk)
        return shown, counts, missing, [*obstacles, *own]


@admin.register(Group, site=site)
class RoleAdmin(BaseAdmin[Group], GroupAdmin):
    """The pages of groups."""

    form = GroupForm
    search_help_text = _("Name")
    change_form_template = "admin/copilot_admin/person/group.html"
    filter_horizontal = ()

    def formfield_for_manytomany(
        self, db_field: Any, request: HttpRequest | None = None, **options: Any
    ) -> Any:
        if db_field.name == "permissions" and request is not None:
            rights = permissions_within(_own(request), Permission.objects.all())
            options |= {"queryset": rights, "form_class": RightsField}
        return super().formfield_for_manytomany(db_field, request=request, **options)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_change_permission(request, obj) and _reaches(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _reaches(request, obj)


def _is_superuser(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_superuser


def _own(request: HttpRequest) -> Powers:
    return powers_of(request.user)


def _reaches(request: HttpRequest, obj: User | Group | None) -> bool:
    if obj is None:
        return True
    theirs = powers_of_group(obj) if isinstance(obj, Group) else powers_of(obj)
    return _own(request).cover(theirs)
