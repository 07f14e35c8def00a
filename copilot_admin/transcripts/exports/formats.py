"""The formats of exports."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.rendering.csv_safe import format_csv
from copilot_admin.transcripts.exports.documents import (
    HTML_END,
    begin_html,
    begin_markdown,
    write_html,
    write_markdown,
)
from copilot_admin.transcripts.exports.json_lines import write_json_lines
from copilot_admin.transcripts.exports.reading import NOT_KEPT, ExportedConversation

BYTE_ORDER_MARK = "\ufeff"  # without it Excel doesn't read UTF-8
COLUMNS = [
    "conversation", "turn", "follows", "branch", "trace_id", "caller", "user", "user_email",
    "asked_at", "copilot", "version", "provider", "model", "state", "outcome", "error_kind",
    "error", "attempts", "question", "answer", "client_calls", "thumbs_up", "thumbs_down",
    "reasons", "comments", "ratings", "labels", "rating_comments", "conversation_ratings",
    "conversation_labels", "review_state", "input_tokens", "cached_tokens", "output_tokens",
    "reasoning_tokens", "cost_usd", "cost_is", "first_token_ms", "ms",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A file format, written piece by piece.

    Attributes:
        help: A sentence for people.
        begin: Returns the text before the first conversation, from the time of the export and its
            filters as text; may be empty.
        write: Yields one conversation. Every text in it may be hostile.
        end: The text after the last conversation.
        has_data: It can contain data; `has_prompts`: system prompts.
    """

    label: str | Promise
    help: str | Promise
    media_type: str
    begin: Callable[[datetime, str], str]
    write: Callable[[ExportedConversation], Iterator[str]]
    end: str = ""
    has_data: bool = True
    has_prompts: bool = False


def _begin_csv(_made_at: datetime, _words: str) -> str:
    return BYTE_ORDER_MARK + format_csv([COLUMNS])


def _write_csv(conversation: ExportedConversation) -> Iterator[str]:
    about = conversation.describe()
    user = about["user"] or {"id": "", "email": ""}
    of_conversation = {
        **about,
        "user": user["id"],
        "user_email": user["email"],
        "conversation_ratings": about["ratings"],
        "conversation_labels": about["labels"],
    }
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


FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat(
        label=_("CSV"),
        help=_("One row per question, for spreadsheets. Cells never contain formulas."),
        media_type="text/csv; charset=utf-8",
        begin=_begin_csv,
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
        begin=begin_markdown,
        write=write_markdown,
    ),
    "html": ExportFormat(
        label=_("HTML"),
        help=_("One page for a browser, without scripts, images or external content."),
        media_type="text/html; charset=utf-8",
        begin=begin_html,
        write=write_html,
        end=HTML_END,
    ),
}
