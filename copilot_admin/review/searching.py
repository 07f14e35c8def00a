"""Find conversations by what was said in them.

What is said often is found by walking along the list, newest first: its page is soon full. What is
said seldom is found by the index of trigrams, since the walk ends after a bound. Neither reads a
whole table, whatever is looked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, Min, Q, QuerySet

from copilot_admin.journal.search_index import SEARCH_FILLING
from copilot_admin.models import Conversation, Filling, Run, TurnText
from copilot_admin.review.phrases import Typed
from copilot_admin.review.trigrams import (
    MOST_FOUND,
    Reach,
    conversations_found,
    having,
    reach,
    served_by,
)

STEPS = (100, 400, 1500)  # conversations that are looked at, one step after the other
WALKED = sum(STEPS)


class Bound(StrEnum):
    """Why a search did not look everywhere."""

    SHORT = "short"  # no three letters side by side
    NO_INDEX = "no-index"  # PostgreSQL has none
    LETTERS = "letters"  # PostgreSQL's knows ASCII only
    MANY = "many"  # it is said so often that the oldest were left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of conversations that were found.

    Attributes:
        rows: One more than the page has if there are others.
        bound: Why older conversations were not looked at; None if all were.
    """

    rows: Sequence[Conversation]
    bound: Bound | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Where in a conversation the words are: the first such turn, and how many there are."""

    turn_id: int
    turns: int


def search(ordered: QuerySet[Conversation], phrases: Sequence[str], *, size: int) -> Page:
    """Finds conversations with a turn that has all the phrases.

    Args:
        ordered: The conversations to look at, in the order in which they are wanted.
        phrases: Folded, at least one.
        size: Rows of a page.
    """
    found, is_all = _walk(ordered, phrases, size=size)
    if is_all or len(found) > size:
        return Page(rows=_rows(ordered, found, size=size))
    index = reach()
    served = served_by(phrases, index)
    if not served:
        return Page(rows=_rows(ordered, found, size=size), bound=_why(index, phrases))
    ids = conversations_found(phrases, served)
    bound = Bound.MANY if len(ids) > MOST_FOUND else None
    return Page(rows=_rows(ordered, {*ids, *found}, size=size), bound=bound)


def found_by_id(typed: Typed) -> dict[int, int | None]:
    """The conversations that an id names, whatever the filters; of a run its turn."""
    named: dict[int, int | None] = {}
    if typed.trace_id:
        traced = Q(trace_id=typed.trace_id) & ~Q(trace_id="")
        named |= dict.fromkeys(
            Conversation.objects.filter(traced).order_by("-id").values_list("pk", flat=True)[:20]
        )
    if typed.number is not None:
        numbered = Conversation.objects.filter(pk=typed.number)
        named |= dict.fromkeys(numbered.values_list("pk", flat=True))
    if typed.run_id is not None:
        runs = Run.objects.filter(pk=typed.run_id, conversation__isnull=False)
        named |= {pk: turn for pk, turn in runs.values_list("conversation_id", "turn_id") if pk}
    return named


def hits_in(conversation_ids: Iterable[int], phrases: Sequence[str]) -> dict[int, Hit]:
    """Where the phrases are in the conversations of a page."""
    texts = having(TurnText.objects.filter(conversation__in=list(conversation_ids)), phrases)
    counted = texts.values("conversation_id").annotate(first=Min("turn_id"), n=Count("turn_id"))
    return {
        row["conversation_id"]: Hit(turn_id=row["first"], turns=row["n"])
        for row in counted.order_by()
    }


def is_being_filled() -> bool:
    """Whether old turns are still on their way into the index."""
    return Filling.objects.filter(pk=SEARCH_FILLING).exists()


def _walk(
    ordered: QuerySet[Conversation], phrases: Sequence[str], *, size: int
) -> tuple[list[int], bool]:
    """Looks at the first conversations in some steps, until more than a page is found.

    Returns:
        Those that have the phrases, and whether there were no others to look at.
    """
    found: list[int] = []
    start = 0
    keys = ordered.values_list("pk", flat=True)
    upcoming: list[int] = list(keys[: WALKED + 1])
    for step in STEPS:
        looked_at = upcoming[start : start + step]
        texts = having(TurnText.objects.filter(conversation__in=looked_at), phrases)
        having_it = set(texts.order_by().values_list("conversation_id", flat=True))
        found += [pk for pk in looked_at if pk in having_it]
        start += step
        if len(found) > size or start >= len(upcoming):
            break
    return found, len(upcoming) <= WALKED and start >= len(upcoming)


def _rows(ordered: QuerySet[Conversation], ids: Iterable[int], *, size: int) -> list[Conversation]:
    """The first of the conversations with these ids, and one more than a page has."""
    return list(ordered.filter(pk__in=list(ids))[: size + 1])


def _why(index: Reach, phrases: Sequence[str]) -> Bound:
    if index is Reach.NOTHING:
        return Bound.NO_INDEX
    if index is Reach.ASCII and served_by(phrases, Reach.ALL):
        return Bound.LETTERS
    return Bound.SHORT
