"""Page of an audit entry: its changes, its hash, and the row that it is about."""

from collections.abc import Mapping
import json
from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from copilot_admin.admin.audit.labels import field_label
from copilot_admin.admin.site.site import site
from copilot_admin.audit.chain import has_valid_hash, verification_keys
from copilot_admin.evaluation.differences import MarkedChange, differences, shortened
from copilot_admin.models.audit import AuditEntry


def list_changes(entry: AuditEntry) -> tuple[MarkedChange, ...]:
    """Return each changed field, with removed and added text marked."""
    before, after = _fields(entry.before), _fields(entry.after)
    names = [*before, *(one for one in after if one not in before)]
    return tuple(
        MarkedChange(
            label=field_label(entry.subject_kind, name),
            parts=shortened(differences(_text(before.get(name, "")), _text(after.get(name, "")))),
        )
        for name in names
    )


def has_correct_hash(entry: AuditEntry) -> bool:
    key = verification_keys().get(entry.key_id)
    return key is not None and has_valid_hash(entry, key)


def find_url(request: HttpRequest, entry: AuditEntry) -> str:
    """Return the URL of the row, or "" if it is gone or the user may not see it."""
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
