"""CSV, and the registry of all export formats."""

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from copilot_admin.rendering.csv_safe import format_csv
from copilot_admin.transcripts.exports.documents import Html, Markdown
from copilot_admin.transcripts.exports.export_format import NOT_KEPT, About, ExportFormat
from copilot_admin.transcripts.exports.json_lines import JsonLines
from copilot_admin.transcripts.exports.reading import (
    ExportedConversation,
    ExportedTurn,
    comments_of,
    labels_of,
    ratings_of,
)

BYTE_ORDER_MARK = "\ufeff"  # without it Excel doesn't read UTF-8
Cell = str | int | None


class Csv(ExportFormat):
    """A table with a row for each question."""

    name: ClassVar[str] = "csv"
    label = _("CSV")
    help = _("A row for each question, for Excel and other spreadsheets. No cell is a formula.")
    media_type: ClassVar[str] = "text/csv; charset=utf-8"
    has_data: ClassVar[bool] = False

    def begin(self, about: About) -> Iterator[str]:
        yield BYTE_ORDER_MARK + format_csv([list(COLUMNS)])

    def conversation(self, conversation: ExportedConversation) -> Iterator[str]:
        for turn in conversation.turns():
            cells = (column(conversation, turn) for column in COLUMNS.values())
            yield format_csv([["; ".join(one) if isinstance(one, list) else one for one in cells]])


def _last(turn: ExportedTurn, field: str) -> str:
    return str(getattr(turn.last[-1].row, field)) if turn.last else ""


def _version(turn: ExportedTurn) -> Cell:
    return next((run.version for run in reversed(turn.last) if run.version is not None), None)


def _tokens(turn: ExportedTurn, kind: str) -> int:
    return sum(getattr(run.row, f"{kind}_tokens") for run in turn.view.runs)


COLUMNS: dict[str, Callable[[ExportedConversation, ExportedTurn], Cell | list[str]]] = {
    "conversation": lambda of, turn: of.row.pk,
    "turn": lambda of, turn: turn.view.id,
    "follows": lambda of, turn: turn.view.place.parent_id,
    "branch": lambda of, turn: turn.view.place.branch,
    "trace_id": lambda of, turn: of.row.trace_id,
    "caller": lambda of, turn: of.row.principal,
    "user": lambda of, turn: of.row.user.identifier if of.row.user else "",
    "user_email": lambda of, turn: of.row.user.email if of.row.user else "",
    "asked_at": lambda of, turn: turn.view.row.started_at.isoformat(),
    "copilot": lambda of, turn: of.row.copilot.slug,
    "version": lambda of, turn: _version(turn),
    "provider": lambda of, turn: _last(turn, "provider"),
    "model": lambda of, turn: _last(turn, "model"),
    "state": lambda of, turn: turn.view.state,
    "outcome": lambda of, turn: _last(turn, "outcome"),
    "error_kind": lambda of, turn: _last(turn, "error_code"),
    "error": lambda of, turn: _last(turn, "error"),
    "attempts": lambda of, turn: len(turn.attempts),
    "question": lambda of, turn: turn.question if turn.is_kept else NOT_KEPT,
    "answer": lambda of, turn: turn.answer if turn.is_kept else NOT_KEPT,
    "client_calls": lambda of, turn: [run.call.function for run in turn.last if run.call],
    "thumbs_up": lambda of, turn: turn.thumbs[0],
    "thumbs_down": lambda of, turn: turn.thumbs[1],
    "reasons": lambda of, turn: turn.reasons,
    "comments": lambda of, turn: turn.comments,
    "ratings": lambda of, turn: ratings_of(turn.verdicts),
    "labels": lambda of, turn: labels_of(turn.verdicts),
    "rating_comments": lambda of, turn: comments_of(turn.verdicts),
    "conversation_ratings": lambda of, turn: ratings_of(of.verdicts),
    "conversation_labels": lambda of, turn: labels_of(of.verdicts),
    "review_state": lambda of, turn: of.row.review_state,
    "input_tokens": lambda of, turn: _tokens(turn, "input"),
    "cached_tokens": lambda of, turn: _tokens(turn, "cached"),
    "output_tokens": lambda of, turn: _tokens(turn, "output"),
    "reasoning_tokens": lambda of, turn: _tokens(turn, "reasoning"),
    "cost_usd": lambda of, turn: turn.cost,
    "cost_is": lambda of, turn: turn.cost_confidence,
    "first_token_ms": lambda of, turn: turn.view.row.ttft_ms,
    "ms": lambda of, turn: turn.view.row.ms,
}
FORMATS: Mapping[str, ExportFormat] = {
    one.name: one for one in (Csv(), JsonLines(), Markdown(), Html())
}
