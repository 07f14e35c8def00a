"""What a filter of the transcript list is, and what an index knows of its values."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.functional import Promise

from copilot_admin.models import Conversation

Label = str | Promise
Choices = Iterable[tuple[str, Label]]


class NoSuchValue(ValueError):
    """A filter was asked for something that it does not know."""


class FilterControl(StrEnum):
    """How a filter is asked."""

    CHOICE = "choice"
    TYPED = "typed"  # with choices to pick from while typing
    NUMBER = "number"
    DATE = "date"
    LINKED = "linked"  # only a link sets it; the form keeps it


class Index(StrEnum):
    """How the database finds what a filter leaves."""

    NONE = "none"  # only by looking at each conversation
    SPAN = "span"  # as a part of the list: all indexes that have its order begin or end there
    ORDER = "order"  # an index has them in the order of the list
    IDS = "ids"  # an index has them in another order
    OWN = "own"  # its condition says itself where to look


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What an index knows of a filter's value.

    Attributes:
        ids: Of the conversations with it and of no other, maybe some of them several times.
        newest: Asks the index for the highest ids up to one; None where it cannot say at once.
    """

    condition: Q
    ids: "QuerySet[Any, Any]"
    is_in_order: bool
    newest: Callable[[int], Sequence[int]] | None = None


Entries = Callable[[str], "QuerySet[Any, Any]"]
# Of a value the highest ids up to one, in that order, and all of them down to the last; empty where there
# are none to say.
Newest = Callable[[str, int], Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFilter:
    """One way to narrow the list of transcripts.

    Attributes:
        name: Of the parameter in the address.
        widget: How it is asked.
        condition: Of a value what a conversation has to be; raises `NoSuchValue`.
        choices: What there is to choose from.
        hint: Said within the empty field.
        is_cheap: Counting what it leaves, up to a bound, takes a look into an index.
        index: How what it leaves is found; of values in `common` only by looking at each conversation.
        entries: What an index that is not of conversations has of a value, by conversation.
        newest: The highest ids among these.
        in_words: What a value says, where it is not written to be read.
        begins_at: The name of the filter of the beginning, of one that is an end.
    """

    name: str
    label: Label
    widget: FilterControl
    condition: Callable[[str], Q]
    choices: Callable[[], Choices] = tuple
    hint: Label = ""
    is_cheap: bool = False
    index: Index = Index.NONE
    common: frozenset[str] = frozenset()
    entries: Entries | None = None
    newest: Newest | None = None
    in_words: Callable[[str], str] | None = None
    begins_at: str = ""

    def shown(self, value: str, choices: Choices) -> Label:
        """A value in the words of its choice; one that was typed is in words already."""
        return self.in_words(value) if self.in_words else dict(choices).get(value, value)

    def index_of(self, text: str, condition: Q) -> Index:
        """The index by which the rows are found that a value leaves in the list."""
        if not condition:
            return Index.SPAN  # of all of the list
        if text in self.common:
            return Index.NONE
        is_one = self.index is not Index.ORDER or not _is_of_several(condition)
        return self.index if is_one else Index.IDS

    def indexed(self, text: str, condition: Q) -> Indexed | None:
        """What an index knows of a value; None where there is none of its own."""
        index = self.index_of(text, condition)
        if index not in (Index.ORDER, Index.IDS):
            return None
        entries = self.entries(text) if self.entries else Conversation.objects.filter(condition)
        ids = entries.order_by().values("conversation" if self.entries else "pk")
        return Indexed(
            newest=partial(self.newest, text) if self.newest else None,
            condition=condition,
            ids=ids,
            is_in_order=index is Index.ORDER,
        )


def _is_of_several(condition: Q) -> bool:
    return any(isinstance(one, tuple) and one[0].endswith("__in") for one in condition.children)
