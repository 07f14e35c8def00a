"""Find conversations by what was said in them.

What is said often is found by walking along the list, newest first: its page is soon full. What is
said seldom is found by the index of trigrams, since the walk ends after a bound. Neither reads a
whole table, whatever is looked for.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, Min, Q, QuerySet

from copilot_admin.models import Conversation, Run, TurnText
from copilot_admin.transcripts.search.finding import SearchScope
from copilot_admin.transcripts.search.phrases import Typed
from copilot_admin.transcripts.search.texts import having, texts_near
from copilot_admin.transcripts.search.trigrams import (
    MOST_READ,
    Reach,
    conversations_found,
    known_texts,
    reach,
    served_by,
)

# Conversations that are looked at, one step after the other: by any search, and by one without an index.
STEPS, MORE_STEPS = (100, 400), (500, 1000, 8000)
FULL_SOON = 2  # of these steps, where they can be expected to fill a page: no index is faster
AFTER_INDEX = (500,)  # where the index was cut: it has taken most of the time of a page
WITHOUT_INDEX = (500, 1000, 1500)  # where it would have been
WALKED = sum(STEPS + MORE_STEPS)


class Bound(StrEnum):
    """Why a search did not look everywhere."""

    SHORT = "short"  # no three letters side by side
    NO_INDEX = "no-index"  # PostgreSQL has none
    LETTERS = "letters"  # PostgreSQL's knows ASCII only
    MANY = "many"  # it is said so often that the oldest were left out


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
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


def search(
    ordered: QuerySet[Conversation],
    phrases: Sequence[str],
    *,
    size: int,
    scope: SearchScope | None = None,
) -> FoundPage:
    """Finds conversations with a turn that has all the phrases.

    Args:
        ordered: The conversations to look at, in the order in which they are wanted.
        phrases: Folded, at least one.
        size: Rows of a page.
        scope: Where to walk, if filters do not leave that to the order; only an index goes beyond.
    """
    walk = _Walk(scope or SearchScope(rows=ordered), phrases, size=size)
    walk.take(STEPS)
    more: Sequence[int] = MORE_STEPS
    if walk.is_promising():
        walk.take(more[:FULL_SOON])
        more = more[FULL_SOON:]
    if walk.is_done():
        return FoundPage(rows=_rows(ordered, walk.found, size=size))
    index = reach()
    served = served_by(phrases, index)
    is_hopeless = bool(served) and walk.texts_of_words(served) > MOST_READ
    indexed = conversations_found(phrases, served) if served and not is_hopeless else None
    if indexed is not None:
        ids, are_all = indexed
        rows = _rows(ordered, {*ids, *walk.found}, size=size)
        return FoundPage(rows=rows, bound=None if are_all else Bound.MANY)
    walk.take(WITHOUT_INDEX if is_hopeless else AFTER_INDEX if served else more)
    bound = None if walk.is_done() else Bound.MANY if served else _why(index, phrases)
    return FoundPage(rows=_rows(ordered, walk.found, size=size), bound=bound)


def is_only_named(typed: Typed, named: Collection[int]) -> bool:
    return bool(typed) and (not typed.phrases or (bool(named) and typed.number is None))


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


class _Walk:
    """A walk along the list, from its beginning, until more than a page is found.

    Attributes:
        found: The conversations that have the phrases.
    """

    def __init__(self, scope: SearchScope, phrases: Sequence[str], *, size: int) -> None:
        self._keys = scope.rows.values_list("pk", flat=True)
        self._is_bounded = scope.end is not None
        self._phrases, self._size = phrases, size
        self._start, self._is_at_end = 0, False
        self._walked: list[int] = []
        self.found: list[int] = []

    def is_done(self) -> bool:
        return self._is_at_end or len(self.found) > self._size

    def is_promising(self) -> bool:
        expected = len(self.found) * (self._start + sum(MORE_STEPS[:FULL_SOON]))
        return not self.is_done() and expected > self._size * self._start > 0

    def texts_of_words(self, phrases: Sequence[str]) -> float:
        """How many texts PostgreSQL would have to read for these phrases, guessed of those that were walked.

        Its index knows in which texts the words of a phrase are, but not whether they stand side by side.
        """
        words = {word for one in phrases if " " in one for word in one.split()}
        number = known_texts() if words else 0
        if not (number and self._walked):
            return 0
        texts = texts_near(self._walked).order_by()
        share = having(texts, sorted(words)).count() / (texts.count() or 1)
        return share * number

    def take(self, steps: Sequence[int]) -> None:
        """Goes on, as far as these steps and no further than needed."""
        upcoming = list(self._keys[self._start : self._start + sum(steps) + 1])
        self._is_at_end = len(upcoming) <= sum(steps) and not self._is_bounded
        for step in steps:
            if len(self.found) > self._size:
                return
            looked_at, upcoming = upcoming[:step], upcoming[step:]
            texts = having(texts_near(looked_at), self._phrases)
            having_it = set(texts.order_by().values_list("conversation_id", flat=True))
            self.found += [pk for pk in looked_at if pk in having_it]
            self._walked += looked_at
            self._start += step


def _rows(ordered: QuerySet[Conversation], ids: Iterable[int], *, size: int) -> list[Conversation]:
    return list(ordered.filter(pk__in=list(ids))[: size + 1])


def _why(index: Reach, phrases: Sequence[str]) -> Bound:
    if index is Reach.NOTHING:
        return Bound.NO_INDEX
    if index is Reach.ASCII and served_by(phrases, Reach.ALL):
        return Bound.LETTERS
    return Bound.SHORT
