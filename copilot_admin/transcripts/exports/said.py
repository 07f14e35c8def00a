"""A turn as parts that people read one after the other, for the formats that are documents."""

from collections.abc import Iterator
from dataclasses import dataclass

from copilot_admin.models import EventType
from copilot_admin.rendering.text import cell_text
from copilot_admin.transcripts.exports.conversations import ExportedConversation, ExportedTurn
from copilot_admin.transcripts.exports.words import (
    LEFT_OUT,
    NOT_KEPT,
    artifact_name,
    comments_of,
    feedback_comments,
    labels_of,
    ratings_of,
    reasons_of,
    thumbs_of,
)
from copilot_admin.transcripts.queries import EventView, RunView
from protocol.json import Json


@dataclass(frozen=True, slots=True)
class SaidPiece:
    """A piece of a turn: who says what it is, and a text in which every sign may stand."""

    who: str
    text: str


def parts_of(turn: ExportedTurn, *, with_data: bool) -> Iterator[SaidPiece]:
    """Question, answer, calls, data and verdicts of a turn, in their order."""
    if not turn.is_kept:
        yield SaidPiece("Question", NOT_KEPT)
        yield SaidPiece("Answer", NOT_KEPT)
    else:
        yield from (SaidPiece("Earlier message", one.text) for one in turn.view.history if one.text)
        if turn.view.question is not None:
            yield SaidPiece("Question", turn.question)
        for run in turn.last:
            yield from _of_run(run, with_data=with_data)
    yield from _judged(turn)


def facts_of(conversation: ExportedConversation) -> str:
    """A line about a conversation."""
    row = conversation.row
    labels = ", ".join([*ratings_of(conversation.verdicts), *labels_of(conversation.verdicts)])
    facts = [
        row.copilot.slug,
        f"{row.first_at:%Y-%m-%d %H:%M} UTC",
        row.principal,
        str(row.user or ""),
        labels,
    ]
    return " · ".join(filter(None, facts))


def facts_of_turn(turn: ExportedTurn) -> str:
    """A line about a turn."""
    last = turn.last[-1] if turn.last else None
    facts = [
        f"{turn.view.started_at:%Y-%m-%d %H:%M:%S} UTC",
        f"version {last.version}" if last and last.version is not None else "",
        last.model if last else "",
        last.outcome if last else turn.view.state,
        f"{turn.view.tokens} tokens",
        f"branch {turn.view.branch} of {turn.view.branches}" if turn.view.branches > 1 else "",
        f"attempt {len(turn.attempts)}" if len(turn.attempts) > 1 else "",
    ]
    return " · ".join(filter(None, facts))


def _of_run(run: RunView, *, with_data: bool) -> Iterator[SaidPiece]:
    for event in run.events:
        if event.type == EventType.TOOL and event.payload is not None:
            payload = event.payload
            yield SaidPiece(f"Tool {payload.get('name', '')}", cell_text(payload.get("arguments")))
            yield SaidPiece("What the tool gave", _data(payload.get("result"), with_data=with_data))
    if run.answer:
        yield SaidPiece("Answer", run.answer)
    for event in run.events:
        if event.type == EventType.ARTIFACT:
            yield SaidPiece(artifact_name(event), _data(_content(event), with_data=with_data))
    if run.call is not None:
        yield SaidPiece(f"Call of {run.call.function}", cell_text(run.call.arguments))
        for result in run.call.results[-1:]:
            yield SaidPiece(
                "What the client sent back",
                _data((result.data or {}).get("data"), with_data=with_data),
            )
    if run.unread_events:
        yield SaidPiece("Left out", f"{run.unread_events:,} more events")
    if run.error:
        yield SaidPiece("Error", run.error)


def _content(event: EventView) -> Json:
    return (event.payload or {}).get("content")


def _data(value: Json, *, with_data: bool) -> str:
    return cell_text(value) if with_data else LEFT_OUT


def _judged(turn: ExportedTurn) -> Iterator[SaidPiece]:
    up, down = thumbs_of(turn.view)
    if up or down:
        words = [*reasons_of(turn.view), *feedback_comments(turn.view)]
        yield SaidPiece("Thumbs", "\n".join([f"{up} up, {down} down", *words]))
    if turn.verdicts:
        words = [*labels_of(turn.verdicts), *comments_of(turn.verdicts)]
        yield SaidPiece("Reviewers", "\n".join([", ".join(ratings_of(turn.verdicts)), *words]))
