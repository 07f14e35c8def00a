"""Verdicts and notes on a conversation for its page, in a constant number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Prefetch

from copilot_admin.models import Conversation, Mark, TurnNote, Verdict

Verdicts = Mapping[int | None, Sequence[Verdict]]  # by turn; of the whole under None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReview:
    """Notes and verdicts on a turn."""

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
    """Return the notes and verdicts of some turns."""
    wanted = list(turns)
    notes: dict[int, list[TurnNote]] = defaultdict(list)
    rows = TurnNote.objects.filter(turn__in=wanted, turn__conversation=conversation)
    for row in rows.select_related("author").order_by("id"):
        notes[row.turn_id].append(row)
    return {turn: TurnReview(notes=notes[turn], verdicts=verdicts.get(turn, ())) for turn in wanted}
