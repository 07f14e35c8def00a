"""Effects of an import, for the page before and after it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
import hashlib
import json
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from copilot_admin.copilots.comparison import FieldChange, format_value, label_of
from copilot_admin.copilots.config import LIVE_FIELDS
from copilot_admin.evaluation.differences import MarkedChange, marked
from copilot_admin.import_export.changes import Difference, Effect, ImportedChange

MAX_COMPARED = 50  # rows whose fields are shown: comparing texts word by word takes its time
LABELS: Mapping[str, str | Promise] = {
    "base_url": _("Base URL"),
    "api_key_env": _("Key variable"),
    "kind": _("Kind"),
    "options": _("Options"),
    "questions": _("Saved questions"),
    "slug": _("Slug"),
    "timeout_s": _("Timeouts"),
    "tool_calling": _("Tool calling"),
}
EFFECTS: Mapping[Effect, tuple[str | Promise, str]] = {
    Effect.CREATED: (_("New"), "good"),
    Effect.CHANGED: (_("Changes"), "warn"),
    Effect.UNCHANGED: (_("Stays as it is"), "muted"),
}
_AT_ONCE_KEYS = frozenset(one.key for one in LIVE_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """Effect of an import on one provider or copilot.

    Attributes:
        url: Of its page, where it has one.
        changes: Changed fields; only of the first rows, others just have `n_changes`.
        at_once: The fields that apply without publishing, of an existing copilot.
        unsaid: The fields that aren't in the file and get their defaults.
        published: Number of the new version.
    """

    name: str
    file: str
    label: str | Promise
    tone: str
    url: str = ""
    changes: Sequence[MarkedChange] = field(default=())
    n_changes: int = 0
    at_once: str = ""
    unsaid: str = ""
    published: int | None = None


def planned(changes: Iterable[ImportedChange], *, urls: Mapping[str, str]) -> list[PlannedRow]:
    """Return the rows of an import, changes first; `urls` are pages by name."""
    order = [Effect.CHANGED, Effect.CREATED, Effect.UNCHANGED]
    shown = (change for change in changes if change.is_change)
    ranked = sorted(shown, key=lambda change: order.index(change.effect))
    return [_row(one, urls, is_compared=at < MAX_COMPARED) for at, one in enumerate(ranked)]


def unchanged(changes: Iterable[ImportedChange]) -> list[str]:
    """Return the names of what isn't changed."""
    return list(dict.fromkeys(change.name for change in changes if not change.is_change))


def digest_of(changes: Iterable[ImportedChange]) -> str:
    """Digest of an import's effects, to detect that they have changed since the preview."""
    facts = [
        [one.file, one.name, one.effect, one.published, *map(astuple, one.differences)]
        for one in changes
    ]
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def _row(change: ImportedChange, urls: Mapping[str, str], *, is_compared: bool) -> PlannedRow:
    label, tone = EFFECTS[change.effect]
    shown = [each for each in map(_describe, change.differences) if each.before or each.after]
    acting = [each.key for each in change.differences if each.key in _AT_ONCE_KEYS]
    is_changed = change.effect is Effect.CHANGED
    return PlannedRow(
        name=change.name,
        file=change.file,
        label=label,
        tone=tone,
        url=urls.get(change.name, ""),
        changes=marked(shown) if is_compared else (),
        n_changes=len(shown),
        at_once=", ".join(map(_label, acting)) if is_changed else "",
        unsaid=", ".join(_label(one.key) for one in change.differences if not one.is_said),
        published=change.published,
    )


def _describe(difference: Difference) -> FieldChange:
    return FieldChange(
        key=difference.key,
        label=_label(difference.key),
        before=_format_value(difference.key, difference.before),
        after=_format_value(difference.key, difference.after),
    )


def _label(key: str) -> str:
    return str(LABELS[key]) if key in LABELS else label_of(key)


def _format_value(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key == "questions":
        text = ngettext("%(count)d question", "%(count)d questions", len(value))
        lines = [text % {"count": len(value)}, *(str(row["question"]) for row in value)]
        return "\n".join(lines) if value else ""
    return format_value(key, value)
