"""The filters of an address, read into what a conversation has to be and how that is found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
import operator
from typing import Any

from django.db.models import Q

from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.filters.filter import Index, Indexed, NoSuchValue, TranscriptFilter
from copilot_admin.transcripts.filters.registry import BY_NAME, FILTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPart:
    """A filter with the value that was asked for, and what a conversation has to be for it."""

    filter: TranscriptFilter
    text: str
    condition: Q

    @property
    def index(self) -> Index:
        return self.filter.index_of(self.text, self.condition)

    def ends_before(self, beginning: "ChosenPart") -> bool:
        """Whether nothing lies between two bounds."""
        (lookup, last), (_, first) = _bound(self.condition), _bound(beginning.condition)
        return bool(last <= first if lookup.endswith("__lt") else last < first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The filters of an address.

    Attributes:
        values: What was asked of each, by name.
        always: What a conversation has to be whatever is asked.
        unknown: Filters that were asked for what they do not know; they leave nothing.
        parts: The others.
    """

    values: Mapping[str, str]
    always: Q
    unknown: Sequence[TranscriptFilter] = ()
    parts: Sequence[ChosenPart] = ()

    @property
    def condition(self) -> Q:
        """The condition that a conversation has to meet."""
        return self.besides(None)

    def besides(self, left_out: Q | None) -> Q:
        """What a conversation has to be besides one of the conditions."""
        asked = (part.condition for part in self.parts if part.condition is not left_out)
        return _all((*asked, self.always))

    @property
    def turned_round(self) -> Sequence[TranscriptFilter]:
        """The ends that lie before their beginnings, so that nothing is found."""
        bounds = {part.filter.name: part for part in self.parts}
        pairs = ((part, bounds.get(part.filter.begins_at)) for part in self.parts)
        return [end.filter for end, beginning in pairs if beginning and end.ends_before(beginning)]

    @property
    def is_cheap(self) -> bool:
        return all(BY_NAME[name].is_cheap for name in self.values)

    @property
    def span(self) -> Q:
        """The part of the list in which a conversation has to be."""
        return _all(part.condition for part in self.parts if part.index is Index.SPAN)

    @property
    def indexed(self) -> Sequence[Indexed]:
        """What indexes know of the values."""
        known = (part.filter.indexed(part.text, part.condition) for part in self.parts)
        return tuple(filter(None, known))

    @property
    def needs_bound(self) -> bool:
        asked = [part.index for part in self.parts]
        return asked.count(Index.ORDER) > 1 or bool({Index.NONE, Index.IDS} & {*asked})


def read_filters(given: Mapping[str, str]) -> Chosen:
    """Reads the filters of an address; other parameters are none of ours."""
    values = {
        one.name: text
        for one in FILTERS
        if (text := given.get(one.name, "").replace("\0", "").strip())
    }
    parts, unknown = [], []
    for name, text in values.items():
        one = BY_NAME[name]
        try:
            parts.append(ChosenPart(filter=one, text=text, condition=one.condition(text)))
        except NoSuchValue:
            unknown.append(one)
    always = Q(pk__in=()) if unknown else Q()
    if "playground" not in values:
        always &= ~Q(principal__startswith=PLAYGROUND)
    return Chosen(values=values, always=always, unknown=tuple(unknown), parts=tuple(parts))


def _bound(condition: Q) -> tuple[str, Any]:
    (bound,) = condition.children
    assert isinstance(bound, tuple)  # noqa: S101  # of what ends or begins
    return bound


def _all(conditions: Iterable[Q]) -> Q:
    return reduce(operator.and_, conditions, Q())
