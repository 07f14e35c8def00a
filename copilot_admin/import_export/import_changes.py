"""What an import does to a row: which keys change, from what to what."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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
