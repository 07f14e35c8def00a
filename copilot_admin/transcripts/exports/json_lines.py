"""JSONL in the form of chats for fine-tuning and evaluations."""

from collections.abc import Iterator, Sequence
import json
from typing import Any

from copilot_admin.models import EventType
from copilot_admin.rendering.text import cell_text
from copilot_admin.transcripts.exports.reading import LEFT_OUT, ExportedConversation, ExportedTurn
from copilot_admin.transcripts.queries import RunView
from protocol.json import Json

NOTHING_CAME = "[nothing came back for this call]"

Message = dict[str, Any]


def write_json_lines(conversation: ExportedConversation) -> Iterator[str]:
    """Yield a line for each path, message by message."""
    for path in conversation.paths():
        turns: list[Message] = []
        separator = '{"messages": ['
        for message in _complete_calls(_messages_of_path(conversation, path, turns)):
            yield separator + _dump(message)
            separator = ", "
        if turns:  # otherwise all of it was deleted during the export
            start = separator if separator != ", " else ""
            metadata = {
                **conversation.describe(),
                "content_kept": all(one["content_kept"] for one in turns),
                "turns": turns,
            }
            yield f'{start}], "metadata": {_dump(metadata)}}}\n'


def _messages_of_path(
    conversation: ExportedConversation, path: Sequence[int], turns: list[Message]
) -> Iterator[Message]:
    for turn in conversation.turns(path):
        yield from _messages(conversation, turn, is_first=not turns)
        turns.append(_describe_turn(conversation, turn))


def _complete_calls(messages: Iterator[Message]) -> Iterator[Message]:
    """Add a result to calls without one.

    Fine-tuning rejects a chat in which a call isn't followed by its result. A call at the end is
    allowed: it is the completion to learn.
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
    if not turn.has_content:
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
    for result in run.call.results[-1:]:  # a client that repeats the request sends it again
        data = (result.data or {}).get("data")
        yield _result(call_id, data, with_data=with_data)


def _call(text: str, call_id: str, name: str, arguments: Json) -> Message:
    function = {"name": name, "arguments": _dump(arguments if arguments is not None else {})}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": text or None, "tool_calls": [call]}


def _result(call_id: str, data: Json, *, with_data: bool) -> Message:
    content = cell_text(data) if with_data else LEFT_OUT
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _describe_turn(conversation: ExportedConversation, turn: ExportedTurn) -> Message:
    facts = turn.describe()
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
    # Some readers treat Unicode line separators as line ends.
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
