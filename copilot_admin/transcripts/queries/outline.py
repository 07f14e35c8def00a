"""What is known of a conversation without its texts: the turns, and what is to be noticed in them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Value
from django.db.models.functions import Coalesce, Left, Length

from copilot_admin.models import Conversation, Feedback, Outcome, Run, Turn
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace, state_of
from copilot_admin.transcripts.queries.views import OutlineView, TurnOutline

HEAD = 200  # characters of a question
_GONE = ("", 0)  # of one that was removed since the tree was read


def read_outline(conversation: Conversation, tree: Tree) -> OutlineView:
    """Reads the outline of a conversation: three queries, and time for each turn, not its data."""
    places = tree.places
    heads = _heads(conversation)
    runs = _runs(conversation)
    thumbs = _thumbs(conversation)
    told = {one for place in places for one in place.history}
    return OutlineView(
        id=conversation.pk,
        turns=tuple(
            _outline(
                place, heads.get(place.turn.pk, _GONE), runs[place.turn.pk], thumbs[place.turn.pk]
            )
            for place in places
        ),
        rest=tuple(
            one
            for one in tree.parents
            if one in tree.foreign and one not in told and one not in tree.asked
        ),
    )


@dataclass(slots=True)
class _Runs:
    """What the runs of a turn come to."""

    size: int = 0
    outcomes: list[str] = field(default_factory=list)


def _outline(
    place: TurnPlace, head: tuple[str, int], runs: _Runs, thumbs: list[int]
) -> TurnOutline:
    return TurnOutline(
        id=place.turn.pk,
        parent_id=place.parent_id,
        level=place.level,
        branches=place.branches,
        started_at=place.turn.started_at,
        state=state_of(place.turn),
        head=head[0],
        size=head[1] + runs.size,
        is_running=Outcome.RUNNING in runs.outcomes,
        has_error=any(one not in (Outcome.RUNNING, Outcome.COMPLETED) for one in runs.outcomes),
        n_up=sum(value > 0 for value in thumbs),
        n_down=sum(value < 0 for value in thumbs),
    )


def _heads(conversation: Conversation) -> Mapping[int, tuple[str, int]]:
    rows = Turn.objects.filter(conversation=conversation).values_list(
        "pk", Left(Coalesce("human_node__text", Value("")), HEAD), Length("human_node__text")
    )
    return {pk: (head, length or 0) for pk, head, length in rows}


def _runs(conversation: Conversation) -> Mapping[int | None, _Runs]:
    found: dict[int | None, _Runs] = defaultdict(_Runs)
    rows = Run.objects.filter(conversation=conversation).order_by("started_at", "id")
    for turn, outcome, kept, said in rows.values_list(
        "turn_id", "outcome", Length("answer_text"), Length("output_node__text")
    ):
        found[turn].size += max(kept or 0, said or 0)
        found[turn].outcomes.append(outcome)
    return found


def _thumbs(conversation: Conversation) -> Mapping[int, list[int]]:
    thumbs: dict[int, list[int]] = defaultdict(list)
    rows = Feedback.objects.filter(turn__conversation=conversation).order_by("id")
    for turn, value in rows.values_list("turn_id", "value"):
        thumbs[turn].append(value)
    return thumbs
