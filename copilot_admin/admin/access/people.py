"""Users and roles in the admin. Everybody manages others up to their own permissions."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from copilot_admin.accounts.external_accounts import is_external
from copilot_admin.accounts.second_factor import has_second_factor, reset_second_factor
from copilot_admin.admin.access.forms import (
    RoleForm,
    UserForm,
    describe_role,
    last_administrator_text,
    permissions_of,
    would_leave_no_administrator,
)
from copilot_admin.admin.common.base import BaseAdmin, Row, row_action
from copilot_admin.admin.common.widgets import chip, format_time
from copilot_admin.admin.sign_in.forms import (
    INVITATION_LIFETIME,
    build_password_link,
    send_password_link,
)
from copilot_admin.admin.sign_in.views import show_sessions
from copilot_admin.admin.site.site import site
from copilot_admin.http.middleware import get_base_url
from copilot_admin.models import Action


class GrantedAdmin(BaseAdmin[Row]):
    """Rows with permissions, which only editors change who have these permissions themselves."""

    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return super().has_change_permission(request, obj) and self._covers(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self._covers(request, obj)

    def _covers(self, request: HttpRequest, obj: Row | None) -> bool:
        return obj is None or permissions_of(obj) <= permissions_of(request.user)


class RoleFilter(admin.RelatedFieldListFilter):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = _("Roles")


@admin.register(User, site=site)
class UserAdmin(GrantedAdmin[User]):
    form = UserForm
    list_display = [
        "username",
        "full_name",
        "role_names",
        "can_sign_in",
        "second_factor",
        "last_sign_in",
    ]
    row_views = ("sessions", "password_link", "reset_mfa")
    list_filter = ("is_active", ("groups", RoleFilter))
    search_fields = ("username", "first_name", "last_name", "email")
    search_help_text = _("Name or email")
    ordering = ("username",)
    fieldsets = (
        (None, {"fields": ("username", ("first_name", "last_name"), "email")}),
        (_("Access"), {"fields": ("roles", "is_active")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        groups = Prefetch("groups", Group.objects.order_by("name"))
        rows = super().get_queryset(request).select_related("external").prefetch_related(groups)
        return rows.annotate(has_second_factor=has_second_factor())

    @admin.display(description=_("Name"), ordering="first_name")
    def full_name(self, user: User) -> str:
        return user.get_full_name() or user.email

    @admin.display(description=_("Roles"))
    def role_names(self, user: User) -> str:
        names = [group.name for group in user.groups.all()]
        names = [gettext("Administrator"), *names] if user.is_superuser else names
        return ", ".join(names) or gettext("No role")

    @admin.display(description=_("Last sign-in"), ordering="last_login")
    def last_sign_in(self, user: User) -> SafeString | str:
        return format_time(user.last_login)

    @admin.display(description=_("Can sign in"), ordering="is_active")
    def can_sign_in(self, user: User) -> SafeString:
        may = user.is_active and user.is_staff
        return chip(gettext("Yes"), "good") if may else chip(gettext("No"))

    @admin.display(description=_("Two-factor"))
    def second_factor(self, user: Any) -> str:
        return gettext("On") if user.has_second_factor else gettext("Off")

    @admin.display(description=_("Account"))
    def source(self, user: User) -> str:
        """The origin of an account, which also decides its roles."""
        if not is_external(user):
            return gettext("Local account")
        text = gettext("%(issuer)s. Its groups decide the roles at each sign-in.")
        return text % {"issuer": user.external.issuer}

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        if obj is None:
            return shown
        roles = "roles" if self._may_grant(request, obj) else "role_names"
        return (shown[0], (_("Access"), {"fields": (roles, "is_active", "source", "last_sign_in")}))

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        is_own = obj is not None and obj.pk == request.user.pk
        locked = ("is_active",) if is_own and not request.user.is_superuser else ()
        return ("source", "last_sign_in", "role_names", *locked)

    def get_form(
        self, request: HttpRequest, obj: User | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        if obj is not None and not self._may_grant(request, obj):
            form.base_fields.pop("roles", None)
        return form

    def _may_grant(self, request: HttpRequest, user: User) -> bool:
        """Return whether the roles of a user are decided here, and by this editor."""
        is_own = user.pk == request.user.pk and not request.user.is_superuser
        return not is_external(user) and not is_own and self.has_change_permission(request, user)

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        is_own = row.pk == request.user.pk
        return {
            "may_send_link": not is_external(row) and not is_own and row.is_active,
            "may_reset_mfa": row.has_second_factor and not is_own,
        }

    def response_add(self, request: HttpRequest, obj: User, *args: Any, **kwargs: Any) -> Any:
        return self._give_link(request, obj, is_new=True)

    @method_decorator([require_POST, never_cache])
    def password_link_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        user = self.get_changeable(request, pk)
        if is_external(user) or not user.is_active:
            raise PermissionDenied
        return self._give_link(request, user, is_new=not user.has_usable_password())

    def _give_link(self, request: HttpRequest, user: User, *, is_new: bool) -> HttpResponse:
        """Mail the link, or show it once to copy."""
        link = build_password_link(user, get_base_url(request), INVITATION_LIFETIME)
        template = "invitation" if is_new else "password_reset"
        with transaction.atomic():
            self.audit(request, Action.CHANGED, user, after={"password_link": "created"})
        if settings.EMAIL_HOST and user.email and send_password_link(user, link, template=template):
            text = gettext("A link was sent to %(email)s.") % {"email": user.email}
            messages.success(request, text)
            return self.redirect_to(user)
        title = gettext("Link for %(name)s") % {"name": user}
        context = {
            **self.page_context(request, title),
            "person": user,
            "link": link,
            "days": INVITATION_LIFETIME.days,
        }
        return render(request, "admin/auth/user/link.html", context)

    @row_action
    def reset_mfa_view(self, request: HttpRequest, user: User) -> None:
        if user.pk == request.user.pk:
            raise PermissionDenied  # their own page asks for a code first
        reset_second_factor(user)
        messages.success(request, gettext("Two-factor authentication was reset."))

    def sessions_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        user = self.get_changeable(request, pk)
        if request.method == "POST":
            self.log_change(request, user, "Ended sessions.")
        title = gettext("Sessions of %(name)s") % {"name": user}
        return show_sessions(request, user, title=title, person=user, opts=self.opts)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Also return why a user can't be deleted: their own account, or the last administrator."""
        shown, counts, missing, protected = super().get_deleted_objects(objs, request)
        users = list(objs)
        own = [
            gettext("“%(name)s” is your own account. Ask another administrator.") % {"name": user}
            for user in users
            if user.pk == request.user.pk
        ]
        last = [last_administrator_text()] if would_leave_no_administrator(users) else []
        return shown, counts, missing, [*protected, *own, *last]


@admin.register(Group, site=site)
class RoleAdmin(GrantedAdmin[Group]):
    form = RoleForm
    fields = ("name", "requires_second_factor", "permissions")
    list_display = ("name", "description", "second_factor")
    search_fields = ("name",)
    ordering = ("name",)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        context = {"module_name": _("Roles"), **(extra_context or {})}
        return super().history_view(request, object_id, context)

    @admin.display(description=_("Description"))
    def description(self, group: Group) -> str:
        return str(describe_role(group.name))

    @admin.display(description=_("Two-factor"))
    def second_factor(self, group: Group) -> str:
        security = getattr(group, "security", None)
        is_required = security is not None and security.requires_second_factor
        return gettext("Required") if is_required else gettext("Optional")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        return super().get_queryset(request).select_related("security")
