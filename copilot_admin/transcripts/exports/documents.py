"""Markdown and HTML documents with escaped texts, which load nothing."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
import re

from django.utils.html import escape

from copilot_admin.models import EventType
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


def begin_markdown(made_at: datetime, words: str) -> str:
    facts = f" · {escape_markdown(words)}" if words else ""
    return f"# Transcripts\n\n{made_at:%Y-%m-%d %H:%M} UTC{facts}\n"


def write_markdown(conversation: ExportedConversation) -> Iterator[str]:
    title = escape_markdown(conversation.row.title) or "Conversation"
    yield f"\n## \\#{conversation.row.pk} {title}\n\n"
    yield f"{escape_markdown(_conversation_facts(conversation))}\n"
    for turn in conversation.turns():
        yield f"\n### {escape_markdown(_turn_facts(turn))}\n"
        for heading, text in _parts(turn, with_data=conversation.options.with_data):
            yield f"\n**{escape_markdown(heading)}**\n\n{fence(text)}\n"


def begin_html(made_at: datetime, words: str) -> str:
    facts = f" · {escape(words)}" if words else ""
    return f'{HEAD}<p class="facts">{made_at:%Y-%m-%d %H:%M} UTC{facts}</p>\n'


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
    facts = [
        row.copilot.slug,
        f"{row.first_at:%Y-%m-%d %H:%M} UTC",
        row.principal,
        str(row.user or ""),
        ", ".join([*about["ratings"], *about["labels"]]),
    ]
    return " · ".join(filter(None, facts))


def _turn_facts(turn: ExportedTurn) -> str:
    about, place = turn.describe(), turn.view.place
    facts = [
        f"{turn.view.row.started_at:%Y-%m-%d %H:%M:%S} UTC",
        f"version {about['version']}" if about["version"] is not None else "",
        about["model"],
        about["outcome"] or about["state"],
        f"{about['tokens']} tokens",
        f"branch {place.branch} of {place.branches}" if place.branches > 1 else "",
        f"attempt {len(turn.attempts)}" if len(turn.attempts) > 1 else "",
    ]
    return " · ".join(filter(None, facts))
