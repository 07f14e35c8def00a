"""What the page of an entry shows: what was and what is, compared, and whether its hash is right."""

from collections.abc import Mapping
import json
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from copilot_admin.admin.audit.words import field_words
from copilot_admin.admin.site.site import site
from copilot_admin.audit.chain import has_valid_hash, verification_keys
from copilot_admin.evaluation.differences import MarkedChange, differences, shortened
from copilot_admin.models.audit import AuditEntry


def compared(entry: AuditEntry) -> tuple[MarkedChange, ...]:
    """Each field that an entry tells of, with what went and what came marked."""
    before, after = _fields(entry.before), _fields(entry.after)
    names = [*before, *(one for one in after if one not in before)]
    return tuple(
        MarkedChange(
            label=field_words(entry.subject_kind, name),
            parts=shortened(differences(_text(before.get(name, "")), _text(after.get(name, "")))),
        )
        for name in names
    )


def is_right(entry: AuditEntry) -> bool:
    key = verification_keys().get(entry.key_id)
    return key is not None and has_valid_hash(entry, key)


def address_of(request: HttpRequest, entry: AuditEntry) -> str:
    """The page of what an entry tells of, if it is there and whoever looks may see it; else empty."""
    model = _models().get(entry.subject_kind)
    if model is None or not entry.subject_id.isdecimal() or len(entry.subject_id) > 18:
        return ""
    page = site.get_model_admin(model)
    row = page.get_queryset(request).filter(pk=entry.subject_id).first()
    if row is None or not page.has_view_permission(request, row):
        return ""
    return reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_change", args=[row.pk])


def _models() -> Mapping[str, type[Model]]:
    return {str(model._meta.model_name): model for model in site._registry}


def _fields(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"": text}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def names() -> list[str]:
    """User names to choose from; those of deleted accounts can be typed."""
    users = get_user_model()._default_manager.order_by("username")
    return [user.get_username() for user in users[:MOST_NAMES]]


MOST_NAMES = 300
