"""Effects of an import on rows, and their entries in the audit trail."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.models import Action, Copilot, Provider


class Effect(StrEnum):
    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose value changes; without `is_said`, the file lacks it and it gets its default."""

    key: str
    before: Any
    after: Any
    is_said: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedChange:
    name: str  # "copilot" or "provider", and its slug or name
    effect: Effect
    differences: tuple[Difference, ...] = ()
    published: int | None = None  # number of the new version
    file: str = ""  # its name; empty if there is only one
    row: Copilot | Provider | None = field(default=None, compare=False, repr=False)

    @property
    def is_change(self) -> bool:
        return self.effect is not Effect.UNCHANGED or self.published is not None


def compare(
    before: Mapping[str, Any], after: Mapping[str, Any], *, said: Collection[str] | None = None
) -> dict[str, Any]:
    """Return effect and differences of a change; `before` is empty for a new row.

    `said` are the keys in the file; None if it doesn't matter.
    """
    differences = tuple(
        Difference(key, before.get(key), after.get(key), not before or said is None or key in said)
        for key in {**after, **before}
        if before.get(key) != after.get(key)
    )
    effect = Effect.CREATED if not before else Effect.CHANGED if differences else Effect.UNCHANGED
    return {"effect": effect, "differences": differences}


def record_import(changes: Iterable[ImportedChange], *, by: Actor) -> None:
    """Record the changes in the audit trail; call it in the transaction of the import."""
    for change in filter(lambda one: one.is_change, changes):
        kind, _, name = change.name.partition(" ")
        before = {one.key: _redact(one.key, one.before) for one in change.differences}
        after = {one.key: _redact(one.key, one.after) for one in change.differences}
        after |= {"effect": change.effect.value, "published": change.published}
        on = Subject(kind, str(change.row.pk) if change.row else "", name)
        record(Action.IMPORTED, by=by, on=on, before=before, after=after)


def _redact(key: str, value: object) -> object:
    """Return the number of test cases: their texts may be those of users."""
    return len(value) if key == "questions" and isinstance(value, list) else value
