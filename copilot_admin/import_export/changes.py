"""Effects of an import on rows, and their entries in the audit trail."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import Action, Copilot, Provider


class Effect(StrEnum):
    """What an import does to a row."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose value changes; one that the file does not say goes back to its default."""

    key: str
    before: Any
    after: Any
    is_said: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedChange:
    """What an import does to one provider or copilot; `published` is the new version's number."""

    name: str
    effect: Effect
    differences: tuple[Difference, ...] = ()
    published: int | None = None


def compared(
    before: Mapping[str, Any], after: Mapping[str, Any], *, said: Collection[str] | None = None
) -> dict[str, Any]:
    """Effect and differences of a change; nothing before: the row is made.

    Args:
        before: What the row has.
        after: What it is going to have.
        said: The keys that the file has; None where it does not matter.
    """
    keys = [*after, *(key for key in before if key not in after)]
    differences = tuple(
        Difference(key, before.get(key), after.get(key), not before or said is None or key in said)
        for key in keys
        if before.get(key) != after.get(key)
    )
    effect = Effect.CREATED if not before else Effect.CHANGED if differences else Effect.UNCHANGED
    return {"effect": effect, "differences": differences}


QUESTIONS = "questions"  # their words may be those of somebody in a transcript


def record_import(changes: Iterable[ImportedChange], *, by: Actor) -> None:
    """Adds an entry for each row that is another one now; call it in the transaction of the import."""
    for change in changes:
        if change.effect is Effect.UNCHANGED and not change.published:
            continue
        before = {one.key: _told(one.key, one.before) for one in change.differences}
        after = {one.key: _told(one.key, one.after) for one in change.differences}
        facts = {"effect": change.effect.value, "published": change.published}
        record(Action.IMPORTED, by=by, on=_subject(change), before=before, after=after | facts)


def _subject(change: ImportedChange) -> Subject:
    kind, _, name = change.name.partition(" ")
    rows = (
        Copilot.objects.filter(slug=name)
        if kind == "copilot"
        else Provider.objects.filter(name=name)
    )
    pk = rows.values_list("pk", flat=True).first()
    return Subject(kind, str(pk or ""), name)


def _told(key: str, value: object) -> object:
    return len(value) if key == QUESTIONS and isinstance(value, list) else value
