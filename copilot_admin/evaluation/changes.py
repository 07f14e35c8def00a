"""What changes from one document to another, field by field, with marked words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.copilots.drafts import FieldChange, changes_between
from copilot_admin.evaluation.differences import TextPart, differences, shortened
from copilot_admin.models.copilots import MAX_VERSION_NOTE_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedChange:
    """A field that differs, as one text with what went and what came."""

    label: str
    parts: tuple[TextPart, ...]


def marked_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[MarkedChange, ...]:
    """The fields in which two documents differ, in the order of the form."""
    return marked(changes_between(before, after))


def marked(changes: Iterable[FieldChange]) -> tuple[MarkedChange, ...]:
    """Marks within each field what went and what came; what is far from it is left out."""
    return tuple(
        MarkedChange(label=change.label, parts=shortened(differences(change.before, change.after)))
        for change in changes
    )


def proposed_note(changes: Sequence[FieldChange], *, is_first: bool) -> str:
    """What a version may say of itself when nobody says more."""
    return _("First version") if is_first else in_a_line(changes)


def in_a_line(changes: Sequence[FieldChange]) -> str:
    """The names of what changed; as many as a note has room for."""
    line = ", ".join(change.label for change in changes)
    return (
        line if len(line) <= MAX_VERSION_NOTE_LENGTH else f"{line[: MAX_VERSION_NOTE_LENGTH - 1]}…"
    )
