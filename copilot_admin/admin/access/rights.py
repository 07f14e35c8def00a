"""The permissions of a role as check boxes, a row for each kind of thing."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.contrib.auth.models import Group, Permission
from django.db.models import Q
from django.forms.models import ModelChoiceIterator, ModelMultipleChoiceField
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.widgets import Text
from copilot_admin.admin.site.site import site
from copilot_admin.config.roles import ROLES

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
