"""The filters of the transcript list as a form, and what is chosen as words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copilot_admin.review.chosen import Chosen
from copilot_admin.review.filter import Filter, Label, Widget
from copilot_admin.review.filters import FILTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One filter in the form."""

    filter: Filter
    value: str
    choices: Sequence[tuple[str, Label]]
    is_unknown: bool

    @property
    def shown(self) -> Label:
        """The value in the words of its choice."""
        return self.filter.shown(self.value, self.choices)


def fields_of(chosen: Chosen) -> Sequence[Field]:
    """All filters, with what is chosen."""
    return [
        Field(
            filter=one,
            value=chosen.values.get(one.name, ""),
            choices=list(one.choices()) if one.widget in _LISTED else [],
            is_unknown=one in chosen.unknown,
        )
        for one in FILTERS
    ]


def chips_of(fields: Sequence[Field]) -> Mapping[str, Field]:
    """The filters that are set, by name."""
    return {field.filter.name: field for field in fields if field.value}


_LISTED = frozenset({Widget.CHOICE, Widget.TYPED})
