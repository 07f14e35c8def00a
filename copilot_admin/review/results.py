"""Result of a review queue: verdicts, labels, and the agreement of two reviewers."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch

from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    Mark,
    Rating,
    ReviewQueue,
    TurnNote,
    Verdict,
)

RATING = 0  # stands for the rating among the ids of criteria

Values = Mapping[int, Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of two reviewers on a criterion, or the rating; of a number of conversations.

    Cohen's kappa is 1 for full agreement and 0 for chance; None if chance makes them agree always.
    """

    name: str = ""
    number: int
    same: int
    kappa: float | None

    @property
    def percent(self) -> int:
        return round(100 * self.same / self.number) if self.number else 0


def summarize_queue(queue: ReviewQueue) -> Mapping[str, Sequence[Any]]:
    """Return ratings and labels as (value, name, number) of each, and agreements on criteria."""
    done = queue.assignments.exclude(done_at=None)
    verdicts = Verdict.objects.filter(
        turn=None, conversation__in=done.values("conversation"), author__in=done.values("reviewer")
    )
    ratings = Counter(verdicts.values_list("rating", flat=True))
    marks = Mark.objects.filter(verdict__in=verdicts, criterion__kind=CriterionKind.LABEL)
    labels = Counter(marks.order_by().values_list("criterion_id", "criterion__name"))
    judged = list(verdicts.prefetch_related("marks")) if queue.judges > 1 else []
    return {
        "ratings": [(one.value, str(one.label), ratings[one.value]) for one in Rating],
        "labels": [(pk, name, number) for (pk, name), number in labels.most_common()],
        "agreement": _compare(judged),
    }


def measure_agreement(pairs: Sequence[tuple[Hashable, Hashable]], *, name: str = "") -> Agreement:
    """Return the agreement of the first and the second value of each pair."""
    number, same = len(pairs), sum(one == other for one, other in pairs)
    if not number:
        return Agreement(name=name, number=0, same=0, kappa=None)
    first = Counter(one for one, _ in pairs)
    second = Counter(other for _, other in pairs)
    # Whole numbers as long as possible: both sides are multiplied by the square of the number.
    by_chance = sum(first[value] * second[value] for value in first)
    rest = number * number - by_chance
    kappa = (same * number - by_chance) / rest if rest else None
    return Agreement(name=name, number=number, same=same, kappa=kappa)


def _compare(verdicts: Sequence[Verdict]) -> list[Agreement]:
    by_conversation: dict[int, list[Values]] = defaultdict(list)
    for row in sorted(verdicts, key=lambda one: (one.conversation_id, one.author_id or 0)):
        values = {mark.criterion_id: mark.value for mark in row.marks.all()}
        by_conversation[row.conversation_id].append({RATING: row.rating, **values})
    pairs = [(some[0], some[1]) for some in by_conversation.values() if len(some) > 1]
    results = [measure_agreement([(one[RATING], other[RATING]) for one, other in pairs])]
    for criterion in Criterion.objects.filter(marks__verdict__in=verdicts).distinct():
        both = [(one.get(criterion.pk), other.get(criterion.pk)) for one, other in pairs]
        if criterion.kind == CriterionKind.SCORE:  # only where both gave one
            both = [(one, other) for one, other in both if one is not None and other is not None]
        results.append(measure_agreement(both, name=criterion.name))
    return [one for one in results if one.number]


Verdicts = Mapping[int | None, Sequence[Verdict]]  # by turn; of the whole under None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReview:
    notes: Sequence[TurnNote] = ()
    verdicts: Sequence[Verdict] = ()


def verdicts_on(conversation: Conversation) -> Verdicts:
    """Return all verdicts on a conversation and its turns, with their marks in the team's order."""
    marks = Mark.objects.select_related("criterion")
    ordered = marks.order_by("criterion__position", "criterion__name")
    rows = Verdict.objects.filter(conversation=conversation).select_related("author")
    by_turn: dict[int | None, list[Verdict]] = defaultdict(list)
    for row in rows.prefetch_related(Prefetch("marks", ordered)).order_by("id"):
        by_turn[row.turn_id].append(row)
    return by_turn


def turn_reviews(
    conversation: Conversation, turns: Iterable[int], verdicts: Verdicts
) -> Mapping[int, TurnReview]:
    wanted = list(turns)
    notes: dict[int, list[TurnNote]] = defaultdict(list)
    rows = TurnNote.objects.filter(turn__in=wanted, turn__conversation=conversation)
    for row in rows.select_related("author").order_by("id"):
        notes[row.turn_id].append(row)
    return {turn: TurnReview(notes=notes[turn], verdicts=verdicts.get(turn, ())) for turn in wanted}
