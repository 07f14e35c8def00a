"""Conversations are read some dozens at a time, as far as they are small; a long one is read by itself."""

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import Count, Sum
from django.db.models.functions import Length

from copilot_admin.models import Conversation, Event, Node
from copilot_admin.transcripts.exports.conversations import (
    ExportedConversation,
    ExportOptions,
    Shelf,
)

MOST_TURNS = 60  # in memory at once
MOST_CHARACTERS = 1_000_000  # of what was said in them
OF_AN_EVENT = 2_000  # characters at most; what is longer is a blob


def gathered(
    rows: Sequence[Conversation], options: ExportOptions
) -> Iterator[Sequence[ExportedConversation]]:
    """The conversations in their order, in pieces that are read at once.

    Args:
        rows: Their facts; so many that what two queries say of them costs little.
        options: What is wanted of them.
    """
    for some in _shelves(rows, _sizes([row.pk for row in rows])):
        shelf = Shelf([row.pk for row in some], options) if len(some) > 1 else None
        yield [ExportedConversation(row, options, shelf) for row in some]


def _shelves(
    rows: Sequence[Conversation], sizes: Mapping[int, int]
) -> Iterator[Sequence[Conversation]]:
    some: list[Conversation] = []
    turns = size = 0
    for row in rows:
        turns, size = turns + row.n_turns, size + sizes[row.pk]
        if some and (turns > MOST_TURNS or size > MOST_CHARACTERS):
            yield some
            some, turns, size = [], row.n_turns, sizes[row.pk]
        some.append(row)
    if some:
        yield some


def _sizes(ids: Sequence[int]) -> Mapping[int, int]:
    said = Node.objects.filter(conversation__in=ids).order_by().values("conversation")
    told = Event.objects.filter(run__conversation__in=ids).order_by().values("run__conversation")
    texts = dict(said.annotate(size=Sum(Length("text"))).values_list("conversation", "size"))
    events = dict(told.annotate(number=Count("id")).values_list("run__conversation", "number"))
    return {one: (texts.get(one) or 0) + OF_AN_EVENT * events.get(one, 0) for one in ids}
