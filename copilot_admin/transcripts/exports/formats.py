"""The formats of exports: CSV, JSONL for fine-tuning and evaluations, Markdown and HTML."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
import json
import re
from typing import Any

from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import EventType
from copilot_admin.rendering.tables import format_csv
from copilot_admin.rendering.text import cell_text
from copilot_admin.transcripts.exports.reading import (
    LEFT_OUT,
    NOT_KEPT,
    ExportedConversation,
    ExportedTurn,
)
from copilot_admin.transcripts.queries.reading import RunView
from protocol.json import Json

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+.!|~&:@/$^=-])")
_TICKS = re.compile(r"`+")
STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
section { border-top: 1px solid; margin-top: 2rem; }
article { margin: 1.5rem 0; }
h2, h3, p { overflow-wrap: anywhere; }
h4 { margin: 0.5rem 0 0; font-size: 0.85rem; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
.facts { opacity: 0.75; font-size: 0.85rem; font-weight: normal; }
"""
STYLE_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'"
HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Transcripts</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>Transcripts</h1>
"""
HTML_END = "</main>\n</body>\n</html>\n"
BYTE_ORDER_MARK = "\ufeff"  # without it Excel doesn't read UTF-8
COLUMNS = [
    "conversation", "turn", "follows", "branch", "trace_id", "caller", "user", "user_email",
    "asked_at", "copilot", "version", "provider", "model", "state", "outcome", "error_kind",
    "error", "attempts", "question", "answer", "client_calls", "thumbs_up", "thumbs_down",
    "reasons", "comments", "ratings", "labels", "rating_comments", "conversation_ratings",
    "conversation_labels", "review_state", "input_tokens", "cached_tokens", "output_tokens",
    "reasoning_tokens", "cost_usd", "cost_is", "first_token_ms", "ms",
]  # fmt: skip
NOTHING_CAME = "[nothing came back for this call]"


def write_markdown(conversation: ExportedConversation) -> Iterator[str]:
    title = escape_markdown(conversation.row.title) or "Conversation"
    yield f"\n## \\#{conversation.row.pk} {title}\n\n"
    yield f"{escape_markdown(_conversation_facts(conversation))}\n"
    for turn in conversation.turns():
        yield f"\n### {escape_markdown(_turn_facts(turn))}\n"
        for heading, text in _parts(turn, with_data=conversation.options.with_data):
            yield f"\n**{escape_markdown(heading)}**\n\n{fence(text)}\n"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _join(*facts: str) -> str:
    return " · ".join(filter(None, facts))


def write_html(conversation: ExportedConversation) -> Iterator[str]:
    row, facts = conversation.row, escape(_conversation_facts(conversation))
    yield f'<section id="c{row.pk}">\n<h2 dir="auto">{escape(row.title or f"#{row.pk}")}</h2>\n'
    yield f'<p class="facts">#{row.pk} · {facts}</p>\n'
    for turn in conversation.turns():
        yield f'<article>\n<h3 class="facts">{escape(_turn_facts(turn))}</h3>\n'
        for heading, text in _parts(turn, with_data=conversation.options.with_data):
            # Browsers drop a line break right after the tag, so a second one is written.
            yield f'<h4>{escape(heading)}</h4>\n<pre dir="auto">\n{escape(text)}</pre>\n'
        yield "</article>\n"
    yield "</section>\n"


def escape_markdown(text: str) -> str:
    """Return a text in one line without Markdown."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def fence(text: str) -> str:
    """Return a text in a Markdown fence that is longer than any within it."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}text\n{text}\n{ticks}"


def _parts(turn: ExportedTurn, *, with_data: bool) -> Iterator[tuple[str, str]]:
    if turn.has_content:
        for message in turn.view.history:
            if message.text:
                yield ("Earlier message", message.text)
        if turn.view.question is not None:
            yield ("Question", turn.question)
        for run in turn.last:
            yield from _run_parts(run, with_data=with_data)
    else:
        yield ("Question", NOT_KEPT)
        yield ("Answer", NOT_KEPT)
    facts = turn.describe()
    up, down = facts["thumbs_up"], facts["thumbs_down"]
    if up or down:
        words = [*facts["reasons"], *facts["comments"]]
        yield ("Thumbs", "\n".join([f"{up} up, {down} down", *words]))
    if facts["ratings"]:
        words = [*facts["labels"], *facts["rating_comments"]]
        yield ("Reviewers", "\n".join([", ".join(facts["ratings"]), *words]))


def _run_parts(run: RunView, *, with_data: bool) -> Iterator[tuple[str, str]]:
    def show(value: Json) -> str:
        return cell_text(value) if with_data else LEFT_OUT

    payloads = [(event.type, event.payload or {}) for event in run.events]
    for payload in (payload for kind, payload in payloads if kind == EventType.TOOL and payload):
        yield (f"Tool {payload.get('name', '')}", cell_text(payload.get("arguments")))
        yield ("What the tool gave", show(payload.get("result")))
    if run.answer:
        yield ("Answer", run.answer)
    for payload in (payload for kind, payload in payloads if kind == EventType.ARTIFACT):
        title = ": ".join(str(payload[key]) for key in ("type", "name") if payload.get(key))
        yield (title, show(payload.get("content")))
    if run.call is not None:
        yield (f"Call of {run.call.function}", cell_text(run.call.arguments))
        for result in run.call.results[-1:]:
            yield ("What the client sent back", show((result.data or {}).get("data")))
    if run.unread_events:
        yield ("Left out", f"{run.unread_events:,} more events")
    if run.row.error:
        yield ("Error", run.row.error)


def _conversation_facts(conversation: ExportedConversation) -> str:
    row, about = conversation.row, conversation.describe()
    verdicts = ", ".join([*about["ratings"], *about["labels"]])
    user = str(row.user or "")
    return _join(row.copilot.slug, _time(row.first_at), row.principal, user, verdicts)


def _turn_facts(turn: ExportedTurn) -> str:
    about, place = turn.describe(), turn.view.place
    return _join(
        f"{turn.view.row.started_at:%Y-%m-%d %H:%M:%S} UTC",
        f"version {about['version']}" if about["version"] is not None else "",
        about["model"],
        about["outcome"] or about["state"],
        f"{about['tokens']} tokens",
        f"branch {place.branch} of {place.branches}" if place.branches > 1 else "",
        f"attempt {len(turn.attempts)}" if len(turn.attempts) > 1 else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A file format, written piece by piece; `begin` gets the time and the filters as text."""

    label: str | Promise
    help: str | Promise
    media_type: str
    begin: Callable[[datetime, str], str]
    write: Callable[[ExportedConversation], Iterator[str]]
    end: str = ""
    has_data: bool = True
    has_prompts: bool = False


def _write_csv(conversation: ExportedConversation) -> Iterator[str]:
    about = conversation.describe()
    user = about["user"] or {"id": "", "email": ""}
    own = {f"conversation_{name}": about[name] for name in ("ratings", "labels")}
    of_conversation = {**about, **own, "user": user["id"], "user_email": user["email"]}
    for turn in conversation.turns():
        row = {
            **of_conversation,
            **turn.describe(),
            "question": turn.question if turn.has_content else NOT_KEPT,
            "answer": turn.answer if turn.has_content else NOT_KEPT,
            "client_calls": [run.call.function for run in turn.last if run.call],
        }
        cells = (row[name] for name in COLUMNS)
        yield format_csv([["; ".join(one) if isinstance(one, list) else one for one in cells]])


Message = dict[str, Any]


def write_json_lines(conversation: ExportedConversation) -> Iterator[str]:
    for path in conversation.paths():
        turns: list[Message] = []
        separator = '{"messages": ['
        for message in _complete_calls(_messages(conversation, path, turns)):
            yield separator + _dump(message)
            separator = ", "
        if turns:  # otherwise all of it was deleted during the export
            start = separator if separator != ", " else ""
            is_kept = all(one["content_kept"] for one in turns)
            metadata = {**conversation.describe(), "content_kept": is_kept, "turns": turns}
            yield f'{start}], "metadata": {_dump(metadata)}}}\n'


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
    conversation: ExportedConversation, path: Sequence[int], turns: list[Message]
) -> Iterator[Message]:
    """Yield the messages of a path; `turns` receives the facts about each turn."""
    for turn in conversation.turns(path):
        if turn.has_content:
            version = next((run.version for run in turn.last), None)
            if not turns and (prompt := conversation.prompt(version)):
                yield {"role": "system", "content": prompt}
            for message in turn.view.history:
                if message.text:
                    role = "user" if message.role == "human" else "assistant"
                    yield {"role": role, "content": message.text}
            if turn.view.question is not None:
                yield {"role": "user", "content": turn.question}
            for run in turn.last:
                yield from _messages_of_run(run, with_data=conversation.options.with_data)
        facts = turn.describe()
        if left_out := sum(run.unread_events for run in turn.last):
            facts["events_left_out"] = left_out
        if conversation.options.with_data:
            events = [event for run in turn.last for event in run.events]
            artifacts = [one.payload for one in events if one.type == EventType.ARTIFACT]
            facts["artifacts"] = artifacts
        turns.append(facts)


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


def _dump(value: object) -> str:
    # Some readers treat Unicode line separators as line ends.
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat(
        label=_("CSV"),
        help=_("One row per question, for spreadsheets. Cells never contain formulas."),
        media_type="text/csv; charset=utf-8",
        begin=lambda _made_at, _words: BYTE_ORDER_MARK + format_csv([COLUMNS]),
        write=_write_csv,
        has_data=False,
    ),
    "jsonl": ExportFormat(
        label=_("JSONL"),
        help=_(
            "Messages and tool calls, one line per conversation branch. For fine-tuning and "
            "evaluations."
        ),
        media_type="application/jsonl; charset=utf-8",
        begin=lambda _made_at, _words: "",
        write=write_json_lines,
        has_prompts=True,
    ),
    "md": ExportFormat(
        label=_("Markdown"),
        help=_("A document for people or models. Texts are exported as written."),
        media_type="text/markdown; charset=utf-8",
        begin=lambda at, words: f"# Transcripts\n\n{_join(_time(at), escape_markdown(words))}\n",
        write=write_markdown,
    ),
    "html": ExportFormat(
        label=_("HTML"),
        help=_("One page for a browser, without scripts, images or external content."),
        media_type="text/html; charset=utf-8",
        begin=lambda at, words: f'{HEAD}<p class="facts">{_join(_time(at), escape(words))}</p>\n',
        write=write_html,
        end=HTML_END,
    ),
}
