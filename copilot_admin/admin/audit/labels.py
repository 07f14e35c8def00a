"""Labels of the subjects of audit entries and their fields."""

from collections.abc import Mapping
from functools import cache

from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

APP = "copilot_admin"
# Subjects that are no rows
_PARTS: Mapping[str, str | Promise] = {
    "database": _("database"),
    "figures": _("analytics"),
    "stored_secrets": _("stored secrets"),
}
# Fields that no row has, in entries of views and commands; others are shown by their name
_FACTS: Mapping[str, str | Promise] = {
    "live": _("live version"),
    "principal": _("caller"),
    "view": _("page"),
    "with_questions": _("with tests"),
    "words": _("search terms"),
    "work": _("job"),
}


def list_kinds(chosen: str = "") -> list[tuple[str, str]]:
    """Return the kinds of subjects with their labels, and the chosen one."""
    known = {name: str(words) for name, words in _PARTS.items()}
    known |= {name: str(model._meta.verbose_name) for name, model in _models().items()}
    if chosen:
        known.setdefault(chosen, chosen)
    return sorted(known.items(), key=lambda one: one[1].casefold())


def kind_label(kind: str) -> str:
    """Return the label of a kind of subject; the name itself if it is unknown."""
    model = _models().get(kind)
    return str(_PARTS.get(kind, kind) if model is None else model._meta.verbose_name)


def field_label(kind: str, name: str) -> str:
    """Return the label of a field; its readable name if it is unknown."""
    model = _models().get(kind)
    try:
        field = model._meta.get_field(name) if model else None
    except FieldDoesNotExist:
        field = None
    words = getattr(field, "verbose_name", "") or _FACTS.get(name, name.replace("_", " "))
    text = str(words)
    return text[:1].upper() + text[1:]


@cache
def _models() -> Mapping[str, type[Model]]:
    models: list[type[Model]] = [*apps.get_app_config(APP).get_models(), User, Group]
    return {str(model._meta.model_name): model for model in models}
