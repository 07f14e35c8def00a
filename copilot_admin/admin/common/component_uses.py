"""Which copilots call which component."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copilot_admin.accounts.members import Person, reachable


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftWithComponent:
    """A copilot whose draft has a component switched on."""

    copilot_id: int
    copilot: str
    version: str


def uses(user: Person) -> Mapping[str, Sequence[DraftWithComponent]]:
    """The copilots of somebody that use a component, by its name, without the archive; one query."""
    found: dict[str, list[DraftWithComponent]] = defaultdict(list)
    rows = reachable(user).in_use().by_name().values_list("pk", "name", "components")
    for pk, name, components in rows.exclude(components=[]):
        for row in components:
            use = DraftWithComponent(copilot_id=pk, copilot=name, version=row["version"])
            found[row["name"]].append(use)
    return found
