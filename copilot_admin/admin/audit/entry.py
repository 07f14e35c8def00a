"""Page of an audit entry: labels, changes, hash, and the row that it is about."""

from collections.abc import Mapping
from functools import cache
import json
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.site.site import site
from copilot_admin.audit.chain import has_valid_hash, verification_keys
from copilot_admin.evaluation.differences import MarkedChange, compare_texts
from copilot_admin.models.audit import AuditEntry

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
    known = {name: str(words) for name, words in _PARTS.items()}
    known |= {name: str(model._meta.verbose_name) for name, model in _models().items()}
    if chosen:
        known.setdefault(chosen, chosen)
    return sorted(known.items(), key=lambda one: one[1].casefold())


def kind_label(kind: str) -> str:
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


def list_changes(entry: AuditEntry) -> tuple[MarkedChange, ...]:
    before, after = _fields(entry.before), _fields(entry.after)
    names = [*before, *(one for one in after if one not in before)]
    return tuple(
        MarkedChange(
            label=field_label(entry.subject_kind, name),
            parts=compare_texts(_text(before.get(name, "")), _text(after.get(name, ""))),
        )
        for name in names
    )


def has_correct_hash(entry: AuditEntry) -> bool:
    key = verification_keys().get(entry.key_id)
    return key is not None and has_valid_hash(entry, key)


def find_url(request: HttpRequest, entry: AuditEntry) -> str:
    """Return the URL of the row, or "" if it is gone or the user may not see it."""
    models = {str(model._meta.model_name): model for model in site._registry}
    model = models.get(entry.subject_kind)
    if model is None or not entry.subject_id.isdecimal() or len(entry.subject_id) > 18:
        return ""
    page = site.get_model_admin(model)
    row = page.get_queryset(request).filter(pk=entry.subject_id).first()
    if row is None or not page.has_view_permission(request, row):
        return ""
    return reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_change", args=[row.pk])


def _fields(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"": text}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
