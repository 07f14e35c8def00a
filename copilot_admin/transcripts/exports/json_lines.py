"""JSONL in the form of chats for fine-tuning and evaluations."""

from collections.abc import Iterator, Sequence
import json
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from copilot_admin.models import EventType
from copilot_admin.rendering.text import cell_text
from copilot_admin.transcripts.exports.export_format import (
    LEFT_OUT,
    NOTHING_CAME,
    ExportFormat,
)
from copilot_admin.transcripts.exports.reading import (
    ExportedConversation,
    ExportedTurn,
    comments_of,
    labels_of,
    ratings_of,
)
from copilot_admin.transcripts.queries import RunView
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
        """Yield a line for each path, message by message."""
        for path in conversation.paths():
            yield from self._line(conversation, path)

    def _line(self, conversation: ExportedConversation, path: Sequence[int]) -> Iterator[str]:
        turns: list[Message] = []
        separator = '{"messages": ['
        for message in _complete_calls(_messages_of_path(conversation, path, turns)):
            yield separator + _dump(message)
            separator = ", "
        if turns:  # else all of it was deleted meanwhile
            start = separator if separator != ", " else ""
            yield f'{start}], "metadata": {_dump(_metadata(conversation, turns))}}}\n'


def _messages_of_path(
    conversation: ExportedConversation, path: Sequence[int], turns: list[Message]
) -> Iterator[Message]:
    for turn in conversation.turns(path):
        yield from _messages(conversation, turn, is_first=not turns)
        turns.append(_turn_metadata(conversation, turn))


def _complete_calls(messages: Iterator[Message]) -> Iterator[Message]:
    """Add a result to calls that have none.

    Fine-tuning rejects a chat in which a call isn't followed by its result. At the end it may stand:
    there it is what the model is to learn.
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
    for message in turn.view.history:
        if message.text:
            role = "user" if message.role == "human" else "assistant"
            yield {"role": role, "content": message.text}
    if turn.view.question is not None:
        yield {"role": "user", "content": turn.question}
    for run in turn.last:
        yield from _messages_of_run(run, with_data=conversation.options.with_data)


def _messages_of_run(run: RunView, *, with_data: bool) -> Iterator[Message]:
    at = 0
    for event in run.events:
        if event.type == EventType.TOOL and event.payload is not None:
            end = max(at, event.text_offset)
            call_id, name = f"{run.id}-{event.ord}", str(event.payload.get("name", ""))
            yield _call(run.answer[at:end], call_id, name, event.payload.get("arguments"))
            yield _result(call_id, event.payload.get("result"), with_data=with_data)
            at = end
    rest = run.answer[at:]
    if run.call is None:
        if rest:
            yield {"role": "assistant", "content": rest}
        return
    call_id = f"{run.id}-call"
    yield _call(rest, call_id, run.call.function, run.call.arguments)
    for result in run.call.results[-1:]:  # the newest; a client that asks again sends it again
        data = (result.data or {}).get("data")
        yield _result(call_id, data, with_data=with_data)


def _call(text: str, call_id: str, name: str, arguments: Json) -> Message:
    function = {"name": name, "arguments": _dump(arguments if arguments is not None else {})}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": text or None, "tool_calls": [call]}


def _result(call_id: str, data: Json, *, with_data: bool) -> Message:
    content = cell_text(data) if with_data else LEFT_OUT
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _metadata(conversation: ExportedConversation, turns: list[Message]) -> Message:
    row, user = conversation.row, conversation.row.user
    return {
        "conversation": row.pk,
        "copilot": row.copilot.slug,
        "caller": row.principal,
        "user": user and {"id": user.identifier, "email": user.email, "name": user.name},
        "trace_id": row.trace_id,
        "review_state": row.review_state,
        "ratings": ratings_of(conversation.verdicts),
        "labels": labels_of(conversation.verdicts),
        "rating_comments": comments_of(conversation.verdicts),
        "content_kept": all(one["content_kept"] for one in turns),
        "turns": turns,
    }


def _turn_metadata(conversation: ExportedConversation, turn: ExportedTurn) -> Message:
    view, last = turn.view, turn.last[-1] if turn.last else None
    up, down = turn.thumbs
    facts: Message = {
        "turn": view.id,
        "asked_at": view.row.started_at.isoformat(),
        "content_kept": turn.is_kept,
        "version": last.version if last else None,
        "provider": last.row.provider if last else "",
        "model": last.row.model if last else "",
        "outcome": last.row.outcome if last else view.state,
        "error": last.row.error if last else "",
        "error_kind": last.row.error_code if last else "",
        "thumbs_up": up,
        "thumbs_down": down,
        "reasons": turn.reasons,
        "comments": turn.comments,
        "ratings": ratings_of(turn.verdicts),
        "labels": labels_of(turn.verdicts),
        "tokens": view.row.tokens,
        "cost_usd": turn.cost,
        "cost_is": turn.cost_confidence,
        "requests_of_unknown_cost": view.row.n_unpriced,
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


def _dump(value: object) -> str:
    # Line separators of Unicode end a line for some readers.
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
