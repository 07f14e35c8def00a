"""The outline of a conversation: its turns without their texts."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Value
from django.db.models.functions import Coalesce, Left, Length

from copilot_admin.models import Conversation, Feedback, Outcome, Run, Turn
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace, state_of

HEAD_LENGTH = 200  # characters of a question


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutline:
    """A turn without its texts; `parent_id`, `level`, `branches` and `state` as of a `TurnView`.

    Attributes:
        head: The beginning of the question.
        size: Characters of question and answers.
        has_error: An answer ended otherwise than completed.
        n_up: Thumbs up, `n_down` thumbs down.
    """

    id: int
    parent_id: int | None
    level: int
    branches: int
    started_at: datetime
    state: str
    head: str
    size: int
    is_running: bool
    has_error: bool
    n_up: int
    n_down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineView:
    """A whole conversation without its texts.

    Attributes:
        turns: Depth first, as of a `ConversationView`.
        rest: Ids of foreign messages after the last turn that no turn follows (rare).
    """

    id: int
    turns: tuple[TurnOutline, ...]
    rest: tuple[int, ...]


def read_outline(conversation: Conversation, tree: Tree) -> OutlineView:
    """Read the outline of a conversation with three queries."""
    heads, runs, thumbs = _heads(conversation), _runs(conversation), _thumbs(conversation)
    before = {one for place in tree.places for one in place.history}
    return OutlineView(
        id=conversation.pk,
        turns=tuple(
            _outline(
                place, heads.get(place.turn.pk, ("", 0)), runs[place.turn.pk], thumbs[place.turn.pk]
            )
            for place in tree.places
        ),
        rest=tuple(
            one
            for one in tree.parents
            if one in tree.foreign and one not in before and one not in tree.asked
        ),
    )


def _outline(
    place: TurnPlace, head: tuple[str, int], runs: list[tuple[str, int]], thumbs: list[int]
) -> TurnOutline:
    outcomes = [outcome for outcome, _ in runs]
    return TurnOutline(
        id=place.turn.pk,
        parent_id=place.parent_id,
        level=place.level,
        branches=place.branches,
        started_at=place.turn.started_at,
        state=state_of(place.turn),
        head=head[0],
        size=head[1] + sum(size for _, size in runs),
        is_running=Outcome.RUNNING in outcomes,
        has_error=any(one not in (Outcome.RUNNING, Outcome.COMPLETED) for one in outcomes),
        n_up=sum(value > 0 for value in thumbs),
        n_down=sum(value < 0 for value in thumbs),
    )


def _heads(conversation: Conversation) -> Mapping[int, tuple[str, int]]:
    head = Left(Coalesce("human_node__text", Value("")), HEAD_LENGTH)
    rows = Turn.objects.filter(conversation=conversation)
    return {
        pk: (text, length or 0)
        for pk, text, length in rows.values_list("pk", head, Length("human_node__text"))
    }


def _runs(conversation: Conversation) -> Mapping[int | None, list[tuple[str, int]]]:
    found: dict[int | None, list[tuple[str, int]]] = defaultdict(list)
    rows = Run.objects.filter(conversation=conversation).order_by("started_at", "id")
    for turn, outcome, own, node in rows.values_list(
        "turn_id", "outcome", Length("answer_text"), Length("output_node__text")
    ):
        found[turn].append((outcome, max(own or 0, node or 0)))
    return found


def _thumbs(conversation: Conversation) -> Mapping[int, list[int]]:
    thumbs: dict[int, list[int]] = defaultdict(list)
    rows = Feedback.objects.filter(turn__conversation=conversation).order_by("id")
    for turn, value in rows.values_list("turn_id", "value"):
        thumbs[turn].append(value)
    return thumbs
