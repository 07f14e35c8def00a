"""The forms of people and groups, in words for those who look after them."""

from typing import Any, ClassVar

from django.contrib.auth.forms import (
    ReadOnlyPasswordHashField,
    ReadOnlyPasswordHashWidget,
    UserChangeForm,
)
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import Group, User
from django.forms import ModelForm
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.access.lockout import refuse_to_leave_nobody
from copilot_admin.admin.access.rights import RightsField
from copilot_admin.admin.common.widgets import PageWidget, Text


class PasswordState(PageWidget, ReadOnlyPasswordHashWidget):
    """Whether there is a password, and the way to another; not how it is stored."""

    template_name = "admin/widgets/password.html"

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        return {**context, "has_password": bool(value) and is_password_usable(value)}


class PersonForm(UserChangeForm[User]):
    """The page of a person, which takes the last one's power from nobody."""

    password = ReadOnlyPasswordHashField(label=_("Password"), widget=PasswordState)

    class Meta(UserChangeForm.Meta):
        labels: ClassVar[dict[str, Text]] = {
            "is_active": _("Active"),
            "is_staff": _("May log in here"),
            "groups": _("Roles"),
            "is_superuser": _("May do everything"),
            "user_permissions": _("Single rights"),
        }
        help_texts: ClassVar[dict[str, Text]] = {
            "username": _("Letters, digits and @ . + - _, at most 150."),
            "is_active": _(
                "Take it away instead of deleting somebody: what was done keeps its name."
            ),
            "is_staff": "",
            "groups": "",
            "is_superuser": _("Needs no role."),
            "user_permissions": _("Besides those of the roles."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer_rights(self, "user_permissions")

    def clean(self) -> dict[str, Any] | None:
        """Refuses to leave nobody who may do everything.

        Raises:
            ValidationError: This would.
        """
        typed = super().clean() or self.cleaned_data
        refuse_to_leave_nobody(self.instance, typed)
        return typed


class GroupForm(ModelForm[Group]):
    """The form of a group: its name and its rights."""

    class Meta:
        model = Group
        fields = ["name", "permissions"]
        labels: ClassVar[dict[str, Text]] = {"permissions": _("Who is in it may")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer_rights(self, "permissions")


def _offer_rights(form: ModelForm[Any], name: str) -> None:
    field = form.fields.get(name)
    if isinstance(field, RightsField):
        field.offer(form.instance)
