"""Forms of users and roles: nobody gives more than they may do, and one administrator stays."""

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any, ClassVar, cast

from django import forms
from django.contrib.auth.models import Group, Permission, PermissionsMixin, User
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.forms.models import ModelChoiceIterator, ModelMultipleChoiceField
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.external_accounts import is_external
from copilot_admin.admin.common.widgets import SwitchesWidget, Text
from copilot_admin.admin.site.site import site
from copilot_admin.config.roles import ROLES, Role
from copilot_admin.models import RoleSecurity

ADMINISTRATOR = "administrator"  # the choice that makes a superuser; other values are ids of roles
BEYOND_ALL = 0  # the id of no permission


def permissions_of(holder: object) -> frozenset[int]:
    """Return the ids of a user's or role's permissions; a disabled user's as if enabled.

    Administrators have one more than there are, so nobody else has as many.
    """
    rows = Permission.objects.all()
    if isinstance(holder, Group):
        rows = rows.filter(group=holder.pk)
    elif not isinstance(holder, PermissionsMixin):
        return frozenset()
    elif holder.is_superuser:
        return frozenset((BEYOND_ALL, *rows.values_list("pk", flat=True)))
    else:
        rows = rows.filter(Q(user=holder.pk) | Q(group__user=holder.pk))
    return frozenset(rows.values_list("pk", flat=True))


def would_leave_no_administrator(going: Collection[User]) -> bool:
    """Return whether no administrator who can sign in would be left without these users."""
    administrators = User.objects.filter(is_active=True, is_staff=True, is_superuser=True)
    left = set(administrators.values_list("pk", flat=True))
    gone = {user.pk for user in going}
    return bool(left & gone) and not left - gone


def last_administrator_text() -> str:
    return gettext("This is the last administrator. Make someone else an administrator first.")


def describe_role(name: str) -> Text:
    """Return what users of a role of the product do; empty for other roles."""
    return ROLES[Role(name)].description if name in set(Role) else ""


class UserForm(forms.ModelForm[User]):
    """A user with their roles, as far as the editor may grant them."""

    editor: ClassVar[User]  # set by the admin for each request
    roles = forms.MultipleChoiceField(label=_("Roles"), required=False, widget=SwitchesWidget({}))

    class Meta:
        labels: ClassVar[dict[str, Text]] = {
            "username": _("Username"),
            "email": _("Email"),
            "is_active": _("Can sign in"),
        }
        help_texts: ClassVar[dict[str, Text]] = {
            "username": _("Letters, digits and @ . + - _, at most 150 characters."),
            "email": _("For the invitation and for resetting the password."),
            "is_active": _("Turn off instead of deleting, to keep the history."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "roles" not in self.fields:
            return
        beyond = Permission.objects.exclude(pk__in=permissions_of(self.editor))
        roles: list[tuple[str, Text, Text]] = [
            (str(group.pk), group.name, describe_role(group.name))
            for group in Group.objects.exclude(permissions__in=beyond).order_by("name")
        ]
        if self.editor.is_superuser:
            text = _("Can do everything. Needs no other role.")
            roles.insert(0, (ADMINISTRATOR, _("Administrator"), text))
        field = cast(forms.MultipleChoiceField, self.fields["roles"])
        field.widget = SwitchesWidget({value: text for value, _label, text in roles})
        field.choices = [(value, label) for value, label, _text in roles]
        if self.instance.pk is not None:
            held = [str(pk) for pk in self.instance.groups.values_list("pk", flat=True)]
            self.initial["roles"] = [ADMINISTRATOR, *held] if self.instance.is_superuser else held

    def clean(self) -> dict[str, Any] | None:
        typed = super().clean() or self.cleaned_data
        roles = typed.get("roles", [ADMINISTRATOR])
        stays = typed.get("is_active", True) and ADMINISTRATOR in roles
        is_changed = "roles" in self.fields or "is_active" in self.fields
        was_there = is_changed and not stays and self.instance.pk
        if was_there and would_leave_no_administrator([self.instance]):
            raise ValidationError(last_administrator_text(), code="last")
        return typed

    def save(self, commit: bool = True) -> User:
        """Save a user who can sign in here; a new one has no password yet."""
        user = self.instance
        if user._state.adding:
            user.set_unusable_password()
        if not is_external(user):
            user.is_staff = True
        if "roles" in self.cleaned_data and self.editor.is_superuser:
            user.is_superuser = ADMINISTRATOR in self.cleaned_data["roles"]
        saved: User = super().save(commit)
        return saved

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc]  # a hook of Django that its stubs lack
        if "roles" in self.cleaned_data:
            chosen = [pk for pk in self.cleaned_data["roles"] if pk != ADMINISTRATOR]
            self.instance.groups.set(Group.objects.filter(pk__in=chosen))


VERBS: dict[str, Text] = {
    "view": _("View"),
    "add": _("Add"),
    "change": _("Change"),
    "delete": _("Delete"),
}
_OF_ROLES = frozenset(name for role in ROLES.values() for name in role.permissions)


class RightsWidget(forms.CheckboxSelectMultiple):
    template_name = "admin/widgets/rights.html"
    use_fieldset = True


class _ByThing(ModelChoiceIterator[Permission]):
    def __iter__(self) -> Iterator[Any]:
        found = sorted(self.queryset, key=_sort_key)
        for thing, rights in groupby(found, key=_get_thing):
            yield thing, [self.choice(right) for right in rights]


class RightsField(ModelMultipleChoiceField[Permission]):
    iterator = _ByThing
    widget = RightsWidget

    def label_from_instance(self, obj: Permission) -> str:
        verb = _get_verb(obj)
        return str(VERBS[verb] if verb else capfirst(obj.name.removeprefix("Can ")))

    def limit_to(self, rights: Any, group: Group) -> None:
        """Offer those of some permissions that are used, and those that the role has."""
        rights = rights.select_related("content_type")
        used = [right.pk for right in rights if _is_used(right)]
        held = group.permissions.values("pk") if group.pk else Permission.objects.none()
        self.queryset = rights.filter(Q(pk__in=used) | Q(pk__in=held))


def _is_used(right: Permission) -> bool:
    app, model = right.content_type.app_label, right.content_type.model_class()
    is_special = app == "copilot_admin" and not _get_verb(right)
    has_pages = model is not None and site.is_registered(model)
    return is_special or has_pages or f"{app}.{right.codename}" in _OF_ROLES


def _get_verb(right: Permission) -> str:
    verb, _separator, model = right.codename.partition("_")
    return verb if verb in VERBS and model == right.content_type.model else ""


def _get_thing(right: Permission) -> str:
    model = right.content_type.model_class()
    if model is None or not (_get_verb(right) or site.is_registered(model)):
        return gettext("Others")
    if model is Group:
        return gettext("Roles")
    return str(capfirst(model._meta.verbose_name_plural))


def _sort_key(right: Permission) -> tuple[bool, str, int, str]:
    thing, verb = _get_thing(right), _get_verb(right)
    order = list(VERBS).index(verb) if verb else len(VERBS)
    return thing == gettext("Others"), thing, order, right.name


class RoleForm(forms.ModelForm[Group]):
    """A role: name, permissions, and whether it requires a second factor."""

    editor: ClassVar[User]
    requires_second_factor = forms.BooleanField(
        label=RoleSecurity._meta.get_field("requires_second_factor").verbose_name.capitalize(),
        help_text=RoleSecurity._meta.get_field("requires_second_factor").help_text,
        required=False,
    )
    permissions = RightsField(label=_("Permissions"), queryset=None, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "permissions" in self.fields:
            rights = cast(RightsField, self.fields["permissions"])
            own = Permission.objects.filter(pk__in=permissions_of(self.editor))
            rights.limit_to(own, self.instance)
        security = RoleSecurity.objects.filter(group=self.instance.pk or 0).first()
        self.initial["requires_second_factor"] = bool(security and security.requires_second_factor)

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc]  # a hook of Django that its stubs lack
        if "requires_second_factor" in self.cleaned_data:
            RoleSecurity.objects.update_or_create(
                group=self.instance,
                defaults={"requires_second_factor": self.cleaned_data["requires_second_factor"]},
            )
