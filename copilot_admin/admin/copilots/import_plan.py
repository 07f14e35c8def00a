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

MOST_COMPARED = 50  # rows whose fields are shown: comparing texts word by word takes its time
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
        changes: Its fields; of those beyond the first rows, none, and `n_changes` tells.
        at_once: The fields that act without publishing, of a copilot that is there already.
        unsaid: The fields that the file does not name, and that go back to their defaults.
        published: The number of the version that is made of it.
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
    """The rows of an import, what changes first; what stays as it is has none.

    Args:
        changes: What the import does.
        urls: Pages, by the names of the changes.
    """
    order = [Effect.CHANGED, Effect.CREATED, Effect.UNCHANGED]
    shown = (change for change in changes if change.is_change)
    ranked = sorted(shown, key=lambda change: order.index(change.effect))
    return [_row(one, urls, is_compared=at < MOST_COMPARED) for at, one in enumerate(ranked)]


def unchanged(changes: Iterable[ImportedChange]) -> list[str]:
    """The names of what stays as it is, each once."""
    return list(dict.fromkeys(change.name for change in changes if not change.is_change))


def digest_of(changes: Iterable[ImportedChange]) -> str:
    """Digest of an import's effects, to detect that they have changed since the preview."""
    told = [
        [one.file, one.name, one.effect, one.published, *map(astuple, one.differences)]
        for one in changes
    ]
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()


def _row(change: ImportedChange, urls: Mapping[str, str], *, is_compared: bool) -> PlannedRow:
    label, tone = EFFECTS[change.effect]
    told = [each for each in map(_told, change.differences) if each.before or each.after]
    acting = [each.key for each in change.differences if each.key in _AT_ONCE_KEYS]
    is_changed = change.effect is Effect.CHANGED
    return PlannedRow(
        name=change.name,
        file=change.file,
        label=label,
        tone=tone,
        url=urls.get(change.name, ""),
        changes=marked(told) if is_compared else (),
        n_changes=len(told),
        at_once=", ".join(map(_label, acting)) if is_changed else "",
        unsaid=", ".join(_label(one.key) for one in change.differences if not one.is_said),
        published=change.published,
    )


def _told(difference: Difference) -> FieldChange:
    return FieldChange(
        key=difference.key,
        label=_label(difference.key),
        before=_words(difference.key, difference.before),
        after=_words(difference.key, difference.after),
    )


def _label(key: str) -> str:
    return str(LABELS[key]) if key in LABELS else label_of(key)


def _words(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key == "questions":
        text = ngettext("%(count)d question", "%(count)d questions", len(value))
        lines = [text % {"count": len(value)}, *(str(row["question"]) for row in value)]
        return "\n".join(lines) if value else ""
    return format_value(key, value)
