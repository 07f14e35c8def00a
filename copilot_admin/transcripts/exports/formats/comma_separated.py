"""CSV: a row for each question, for spreadsheets; no cell is a formula."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from copilot_admin.rendering.csv_safe import format_csv
from copilot_admin.transcripts.exports.conversations import ExportedConversation, ExportedTurn
from copilot_admin.transcripts.exports.format import About, ExportFormat
from copilot_admin.transcripts.exports.words import (
    NOT_KEPT,
    comments_of,
    cost_of,
    feedback_comments,
    how_known,
    labels_of,
    ratings_of,
    reasons_of,
    thumbs_of,
)

BYTE_ORDER_MARK = "\ufeff"  # without it Excel takes UTF-8 for something else
Cell = str | int | None


class CommaSeparated(ExportFormat):
    """A table with a row for each question."""

    name: ClassVar[str] = "csv"
    label = _("CSV")
    help = _("A row for each question, for Excel and other spreadsheets. No cell is a formula.")
    media_type: ClassVar[str] = "text/csv; charset=utf-8"
    has_data: ClassVar[bool] = False

    def begin(self, about: About) -> Iterator[str]:
        """The names of the columns."""
        yield BYTE_ORDER_MARK + _line(list(COLUMNS))

    def conversation(self, conversation: ExportedConversation) -> Iterator[str]:
        """A row for each question."""
        for turn in conversation.turns():
            yield _line([column(conversation, turn) for column in COLUMNS.values()])


def _line(cells: Sequence[Cell]) -> str:
    return format_csv([cells])


def _said(text: str, turn: ExportedTurn) -> str:
    return text if turn.is_kept else NOT_KEPT


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(texts)


def _calls(turn: ExportedTurn) -> str:
    return _joined([run.call.function for run in turn.last if run.call])


def _versions(turn: ExportedTurn) -> Cell:
    return next((run.version for run in reversed(turn.last) if run.version is not None), None)


def _tokens(turn: ExportedTurn, kind: str) -> int:
    return sum(getattr(run.usage, f"{kind}_tokens") for run in turn.view.runs)


def _last(turn: ExportedTurn, field: str) -> str:
    return str(getattr(turn.last[-1], field)) if turn.last else ""


COLUMNS: dict[str, Callable[[ExportedConversation, ExportedTurn], Cell]] = {
    "conversation": lambda of, turn: of.row.pk,
    "turn": lambda of, turn: turn.view.id,
    "follows": lambda of, turn: turn.view.parent_id,
    "branch": lambda of, turn: turn.view.branch,
    "trace_id": lambda of, turn: of.row.trace_id,
    "caller": lambda of, turn: of.row.principal,
    "user": lambda of, turn: of.row.user.identifier if of.row.user else "",
    "user_email": lambda of, turn: of.row.user.email if of.row.user else "",
    "asked_at": lambda of, turn: turn.view.started_at.isoformat(),
    "copilot": lambda of, turn: of.row.copilot.slug,
    "version": lambda of, turn: _versions(turn),
    "provider": lambda of, turn: _last(turn, "provider"),
    "model": lambda of, turn: _last(turn, "model"),
    "state": lambda of, turn: turn.view.state,
    "outcome": lambda of, turn: _last(turn, "outcome"),
    "error_kind": lambda of, turn: _last(turn, "error_code"),
    "error": lambda of, turn: _last(turn, "error"),
    "attempts": lambda of, turn: len(turn.attempts),
    "question": lambda of, turn: _said(turn.question, turn),
    "answer": lambda of, turn: _said(turn.answer, turn),
    "client_calls": lambda of, turn: _calls(turn),
    "thumbs_up": lambda of, turn: thumbs_of(turn.view)[0],
    "thumbs_down": lambda of, turn: thumbs_of(turn.view)[1],
    "reasons": lambda of, turn: _joined(reasons_of(turn.view)),
    "comments": lambda of, turn: _joined(feedback_comments(turn.view)),
    "ratings": lambda of, turn: _joined(ratings_of(turn.verdicts)),
    "labels": lambda of, turn: _joined(labels_of(turn.verdicts)),
    "rating_comments": lambda of, turn: _joined(comments_of(turn.verdicts)),
    "conversation_ratings": lambda of, turn: _joined(ratings_of(of.verdicts)),
    "conversation_labels": lambda of, turn: _joined(labels_of(of.verdicts)),
    "review_state": lambda of, turn: of.row.review_state,
    "input_tokens": lambda of, turn: _tokens(turn, "input"),
    "cached_tokens": lambda of, turn: _tokens(turn, "cached"),
    "output_tokens": lambda of, turn: _tokens(turn, "output"),
    "reasoning_tokens": lambda of, turn: _tokens(turn, "reasoning"),
    "cost_usd": lambda of, turn: cost_of(turn.view),
    "cost_is": lambda of, turn: how_known(turn.view),
    "first_token_ms": lambda of, turn: turn.view.ttft_ms,
    "ms": lambda of, turn: turn.view.ms,
}
