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
from copilot_admin.import_export.bundles import FileChange
from copilot_admin.import_export.changes import Difference, Effect

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


def planned(changes: Iterable[FileChange], *, urls: Mapping[str, str]) -> list[PlannedRow]:
    """The rows of an import, what changes first; what stays as it is has none.

    Args:
        changes: What the import does.
        urls: Pages, by the names of the changes.
    """
    order = [Effect.CHANGED, Effect.CREATED, Effect.UNCHANGED]
    told = [
        one for one in changes if one.change.effect is not Effect.UNCHANGED or one.change.published
    ]
    ranked = sorted(told, key=lambda one: order.index(one.change.effect))
    return [_row(one, urls, is_compared=at < MOST_COMPARED) for at, one in enumerate(ranked)]


def unchanged(changes: Iterable[FileChange]) -> list[str]:
    """The names of what stays as it is, each once."""
    told = [one.change for one in changes]
    names = [each.name for each in told if each.effect is Effect.UNCHANGED and not each.published]
    return list(dict.fromkeys(names))


def digest_of(changes: Iterable[FileChange]) -> str:
    """Digest of an import's effects, to detect that they have changed since the preview."""
    told = [
        [one.file, one.change.name, one.change.effect, one.change.published, *map(astuple, fields)]
        for one in changes
        for fields in [one.change.differences]
    ]
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()


def _row(one: FileChange, urls: Mapping[str, str], *, is_compared: bool) -> PlannedRow:
    change = one.change
    label, tone = EFFECTS[change.effect]
    told = [each for each in map(_told, change.differences) if each.before or each.after]
    acting = [each.key for each in change.differences if each.key in _AT_ONCE_KEYS]
    is_changed = change.effect is Effect.CHANGED
    return PlannedRow(
        name=change.name,
        file=one.file,
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
