"""Single rights, chosen as people think of them: the things, and what may be done with each."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model, Q
from django.forms.models import ModelChoiceIterator, ModelMultipleChoiceField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.widgets import PageWidget, Text
from copilot_admin.admin.site.site import site
from copilot_admin.config.roles import ROLES

VERBS: dict[str, Text] = {
    "view": _("See"),
    "add": _("Add"),
    "change": _("Change"),
    "delete": _("Delete"),
}
_OF_ROLES = frozenset(name for role in ROLES.values() for name in role.permissions)


class RightsWidget(PageWidget, forms.CheckboxSelectMultiple):
    """A row of boxes for each thing."""

    template_name = "admin/widgets/rights.html"
    use_fieldset = True


class _ByThing(ModelChoiceIterator[Permission]):
    """The rights of each thing, under its name."""

    def __iter__(self) -> Iterator[Any]:
        found = sorted(self.queryset, key=_place)
        for thing, rights in groupby(found, key=_thing):
            yield thing, [self.choice(right) for right in rights]


class RightsField(ModelMultipleChoiceField[Permission]):
    """Some permissions; those that nothing here asks for are not among them."""

    iterator = _ByThing
    widget = RightsWidget

    def label_from_instance(self, obj: Permission) -> str:
        """What may be done: a verb, or the sentence of a right with a name of its own."""
        verb = _verb(obj)
        sentence = obj.name.removeprefix("Can ")
        return str(VERBS[verb]) if verb else sentence[:1].upper() + sentence[1:]

    def offer(self, holder: User | Group) -> None:
        """Leaves out what is of no use, unless whoever is looked at has it.

        Args:
            holder: Who gets the rights.
        """
        if self.queryset is None:
            return
        rights = self.queryset.select_related("content_type")
        of_use = [right.pk for right in rights if _is_of_use(right)]
        held = _held_by(holder) if holder.pk else Permission.objects.none()
        self.queryset = rights.filter(Q(pk__in=of_use) | Q(pk__in=held))


def _held_by(holder: User | Group) -> Any:
    return (holder.user_permissions if isinstance(holder, User) else holder.permissions).values(
        "pk"
    )


def _is_of_use(right: Permission) -> bool:
    model = right.content_type.model_class()
    if model is None:
        return False
    name = f"{right.content_type.app_label}.{right.codename}"
    has_name_of_its_own = not _verb(right) and model._meta.app_label == "copilot_admin"
    return has_name_of_its_own or name in _OF_ROLES or _has_pages(model)


def _has_pages(model: type[Model]) -> bool:
    return site.is_registered(model)


def _verb(right: Permission) -> str:
    verb, _separator, model = right.codename.partition("_")
    return verb if verb in VERBS and model == right.content_type.model else ""


def _thing(right: Permission) -> str:
    model = right.content_type.model_class()
    if model is None or not (_verb(right) or _has_pages(model)):
        return gettext("Others")
    name = str(model._meta.verbose_name_plural)
    return name[:1].upper() + name[1:]


def _place(right: Permission) -> tuple[bool, str, int, str]:
    thing, verb = _thing(right), _verb(right)
    order = list(VERBS).index(verb) if verb else len(VERBS)
    return thing == gettext("Others"), thing, order, right.name
