"""Facts of a turn as short texts, the same in every format."""

from collections.abc import Iterator, Sequence

from copilot_admin.models import CriterionKind, Verdict
from copilot_admin.transcripts.queries import EventView, TurnView

NOT_KEPT = "[not kept: the copilot's logging keeps no content]"
LEFT_OUT = "[not exported: data was left out]"
NOTHING_CAME = "[nothing came back for this call]"


def labels_of(verdicts: Sequence[Verdict]) -> list[str]:
    """The labels that reviewers gave, and their scores: `wrong number`, `tone: 4`."""
    return list(dict.fromkeys(_labels(verdicts)))


def ratings_of(verdicts: Sequence[Verdict]) -> list[str]:
    """What reviewers think on the whole: good, mixed, bad."""
    return [verdict.rating for verdict in verdicts]


def comments_of(verdicts: Sequence[Verdict]) -> list[str]:
    """What reviewers wrote to their verdicts."""
    return [verdict.comment for verdict in verdicts if verdict.comment]


def reasons_of(turn: TurnView) -> list[str]:
    """The reasons that people gave with their thumbs."""
    return list(dict.fromkeys(str(tag) for one in turn.feedback for tag in one.tags))


def thumbs_of(turn: TurnView) -> tuple[int, int]:
    """How many thumbs a turn has: up, and down."""
    up = sum(one.is_good for one in turn.feedback)
    return up, len(turn.feedback) - up


def feedback_comments(turn: TurnView) -> list[str]:
    """What people wrote to their thumbs."""
    return [one.comment for one in turn.feedback if one.comment]


def artifact_name(event: EventView) -> str:
    """What a table, a chart or a text beside an answer is called."""
    payload = event.payload or {}
    kind, name = payload.get("type", ""), payload.get("name", "")
    return f"{kind}: {name}" if kind and name else str(kind or name)


def _labels(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for verdict in verdicts:
        for mark in verdict.marks.all():
            is_label = mark.criterion.kind == CriterionKind.LABEL
            yield mark.criterion.name if is_label else f"{mark.criterion.name}: {mark.value}"


def cost_of(turn: TurnView) -> str | None:
    """What is known of a turn's cost, in dollars; None: nothing is, which is not 0."""
    return f"{turn.cost:f}" if turn.cost or not turn.n_unpriced else None


def how_known(turn: TurnView) -> str:
    """Whether a turn's cost is exact, estimated, partly known or unknown."""
    if turn.n_unpriced:
        return "partly" if turn.cost else "unknown"
    return "estimated" if turn.cost_is_estimated else "exact"
