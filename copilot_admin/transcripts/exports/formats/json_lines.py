"""JSONL in the form of chats, which fine-tuning and evaluations read: a line for each way through a conversation."""

from collections.abc import Iterator, Sequence
import json
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from copilot_admin.models import EndUser, EventType
from copilot_admin.rendering.text import cell_text
from copilot_admin.transcripts.exports.conversations import ExportedConversation, ExportedTurn
from copilot_admin.transcripts.exports.format import ExportFormat
from copilot_admin.transcripts.exports.words import (
    LEFT_OUT,
    NOTHING_CAME,
    comments_of,
    cost_of,
    feedback_comments,
    how_known,
    labels_of,
    ratings_of,
    reasons_of,
    thumbs_of,
)
from copilot_admin.transcripts.queries import EventView, RunView
from protocol.json import Json

Message = dict[str, Any]


class JsonLines(ExportFormat):
    """`{"messages": [...], "metadata": {...}}` in each line."""

    name: ClassVar[str] = "jsonl"
    label = _("JSONL")
    help = _(
        "Chats as fine-tuning and evaluations read them, with calls of tools and what they gave; "
        "a line for each way through a conversation."
    )
    media_type: ClassVar[str] = "application/jsonl; charset=utf-8"
    has_prompts: ClassVar[bool] = True

    def conversation(self, conversation: ExportedConversation) -> Iterator[str]:
        """A line for each way; its messages leave as they are read."""
        for way in conversation.ways():
            yield from self._way(conversation, way)

    def _way(self, conversation: ExportedConversation, way: Sequence[int]) -> Iterator[str]:
        facts: list[Message] = []
        separator = '{"messages": ['
        for message in _paired(_said(conversation, way, facts)):
            yield separator + _dumped(message)
            separator = ", "
        if facts:  # else all of it was deleted meanwhile
            start = separator if separator != ", " else ""
            yield f'{start}], "metadata": {_dumped(_about(conversation, facts))}}}\n'


def _said(
    conversation: ExportedConversation, way: Sequence[int], facts: list[Message]
) -> Iterator[Message]:
    for turn in conversation.turns(way):
        yield from _messages(conversation, turn, is_first=not facts)
        facts.append(_facts(conversation, turn))


def _paired(messages: Iterator[Message]) -> Iterator[Message]:
    """The messages, and before one that follows a call that nothing came back for, that nothing did.

    A chat in which a call is not followed by its result is refused as a whole. At its end it may
    stand: there it is what the model is to learn.
    """
    called = ""
    for message in messages:
        if called and message["role"] != "tool":
            yield {"role": "tool", "tool_call_id": called, "content": NOTHING_CAME}
        called = message["tool_calls"][0]["id"] if "tool_calls" in message else ""
        yield message


def _messages(
    conversation: ExportedConversation, turn: ExportedTurn, *, is_first: bool
) -> Iterator[Message]:
    if not turn.is_kept:
        return
    version = next((run.version for run in turn.last), None)
    if is_first and (prompt := conversation.prompt(version)):
        yield {"role": "system", "content": prompt}
    yield from (
        {"role": "user" if one.role == "human" else "assistant", "content": one.text}
        for one in turn.view.history
        if one.text
    )
    if turn.view.question is not None:
        yield {"role": "user", "content": turn.question}
    for run in turn.last:
        yield from _of_run(run, with_data=conversation.options.with_data)


def _of_run(run: RunView, *, with_data: bool) -> Iterator[Message]:
    place = 0
    for event in run.events:
        if event.type == EventType.TOOL and event.payload is not None:
            end = max(place, event.text_offset)
            yield from _tool(run, event, run.answer[place:end], with_data=with_data)
            place = end
    rest = run.answer[place:]
    if run.call is None:
        if rest:
            yield {"role": "assistant", "content": rest}
        return
    call_id = f"{run.id}-call"
    yield _calling(rest, call_id, run.call.function, run.call.arguments)
    for result in run.call.results[-1:]:  # the newest; who asks again sends it again
        data = (result.data or {}).get("data") if result.data else None
        yield _given(call_id, data, with_data=with_data)


def _tool(run: RunView, event: EventView, said: str, *, with_data: bool) -> Iterator[Message]:
    payload = event.payload or {}
    call_id = f"{run.id}-{event.ord}"
    yield _calling(said, call_id, str(payload.get("name", "")), payload.get("arguments"))
    yield _given(call_id, payload.get("result"), with_data=with_data)


def _calling(said: str, call_id: str, name: str, arguments: Json) -> Message:
    function = {"name": name, "arguments": _dumped(arguments if arguments is not None else {})}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": said or None, "tool_calls": [call]}


def _given(call_id: str, data: Json, *, with_data: bool) -> Message:
    content = cell_text(data) if with_data else LEFT_OUT
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _about(conversation: ExportedConversation, facts: list[Message]) -> Message:
    row = conversation.row
    return {
        "conversation": row.pk,
        "copilot": row.copilot.slug,
        "caller": row.principal,
        "user": _user(row.user),
        "trace_id": row.trace_id,
        "review_state": row.review_state,
        "ratings": ratings_of(conversation.verdicts),
        "labels": labels_of(conversation.verdicts),
        "rating_comments": comments_of(conversation.verdicts),
        "content_kept": all(one["content_kept"] for one in facts),
        "turns": facts,
    }


def _user(user: EndUser | None) -> Message | None:
    if user is None:
        return None
    return {"id": user.identifier, "email": user.email, "name": user.name}


def _facts(conversation: ExportedConversation, turn: ExportedTurn) -> Message:
    view, last = turn.view, turn.last[-1] if turn.last else None
    up, down = thumbs_of(view)
    facts: Message = {
        "turn": view.id,
        "asked_at": view.started_at.isoformat(),
        "content_kept": turn.is_kept,
        "version": last.version if last else None,
        "provider": last.provider if last else "",
        "model": last.model if last else "",
        "outcome": last.outcome if last else view.state,
        "error": last.error if last else "",
        "error_kind": last.error_code if last else "",
        "thumbs_up": up,
        "thumbs_down": down,
        "reasons": reasons_of(view),
        "comments": feedback_comments(view),
        "ratings": ratings_of(turn.verdicts),
        "labels": labels_of(turn.verdicts),
        "tokens": view.tokens,
        "cost_usd": cost_of(view),
        "cost_is": how_known(view),
        "requests_of_unknown_cost": view.n_unpriced,
    }
    if left_out := sum(run.unread_events for run in turn.last):
        facts["events_left_out"] = left_out
    if conversation.options.with_data:
        facts["artifacts"] = [
            event.payload
            for run in turn.last
            for event in run.events
            if event.type == EventType.ARTIFACT
        ]
    return facts


def _dumped(value: object) -> str:
    # Line separators of Unicode end a line for some readers.
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
