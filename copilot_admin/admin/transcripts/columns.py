"""Columns of the list of conversations that readers choose."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Conversation, EndUser, Rating, Run, Verdict
from copilot_admin.pricing.cost import format_cost_sums
from copilot_admin.rendering.text import duration, number_text

TONES: Mapping[str, str] = {Rating.GOOD: "good", Rating.MIXED: "warn", Rating.BAD: "bad"}
MAX_LABELS = 3  # of a row
COLUMNS_COOKIE = "conversation_columns"  # names of the reader's columns, with dots between them


@dataclass(slots=True)
class RowDetails:
    """A conversation with what its columns show."""

    conversation: Conversation
    rating: str = ""
    labels: dict[str, None] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)  # of the last request


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list; narrow lists hide first those with the priority "wide" or "medium"."""

    name: str
    label: str | Promise
    cell: Callable[[RowDetails], str | SafeString]
    priority: str = "medium"
    is_number: bool = False
    is_default: bool = True
    on_phone: bool = False
    is_useful: Callable[[Iterable[Conversation]], bool] = lambda _rows: True


def _show_verdict(row: RowDetails) -> str | SafeString:
    if not row.rating:
        return ""
    return format_html(
        '<span class="ca-chip ca-chip--{}">{}</span>', TONES[row.rating], Rating(row.rating).label
    )


def _show_labels(row: RowDetails) -> SafeString:
    names = ((name,) for name in [*row.labels][:MAX_LABELS])
    return format_html_join(" ", '<span class="ca-tag">{}</span>', names)


def _show_cost(row: RowDetails) -> str | SafeString:
    cost = format_cost_sums(row.conversation)
    if row.conversation.n_unpriced and not row.conversation.cost:
        return ""
    return format_html('<span title="{}">{}</span>', cost.sentence, cost.text)


def _show_version(row: RowDetails) -> str:
    return f"v{row.run['number']}" if row.run.get("number") else ""


def _show_tokens(row: RowDetails) -> str:
    return number_text(row.conversation.tokens)


def _show_time(row: RowDetails) -> str:
    ms = row.run.get("turn__ms")
    return duration(ms) if ms else ""


COLUMNS: Sequence[Column] = (
    Column("copilot", _("Copilot"), lambda row: row.conversation.copilot.name, "wide"),
    Column(
        "user",
        _("User"),
        lambda row: str(row.conversation.user or ""),
        "wide",
        on_phone=True,
        is_useful=lambda _rows: EndUser.objects.exists(),
    ),
    Column("verdict", _("Verdict"), _show_verdict, "", on_phone=True),
    Column("labels", _("Labels"), _show_labels),
    Column("model", _("Model"), lambda row: row.run.get("model", ""), is_default=False),
    Column("version", _("Version"), _show_version, is_default=False),
    Column("tokens", _("Tokens"), _show_tokens, is_number=True, is_default=False),
    Column(
        "cost",
        _("Cost"),
        _show_cost,
        is_number=True,
        is_useful=lambda rows: any(row.cost or not row.n_unpriced for row in rows),
    ),
    Column("time", _("Time"), _show_time, is_number=True),
)


def choose_columns(request: HttpRequest, rows: Sequence[Conversation]) -> list[Column]:
    """Return the reader's columns; by default those that have something to show."""
    if chosen := request.COOKIES.get(COLUMNS_COOKIE):
        names = set(chosen.split("."))
        return [column for column in COLUMNS if column.name in names]
    return [column for column in COLUMNS if column.is_default and column.is_useful(rows)]


def load_details(rows: Sequence[Conversation]) -> dict[int, RowDetails]:
    """Return the details of conversations, by id; three queries."""
    details = {row.pk: RowDetails(row) for row in rows}
    verdicts = Verdict.objects.filter(conversation__in=details, turn=None)
    ordered = verdicts.order_by("conversation_id", "updated_at").prefetch_related(
        "marks__criterion"
    )
    for verdict in ordered:
        row = details[verdict.conversation_id]
        row.rating = verdict.rating or row.rating
        marks = [mark.criterion for mark in verdict.marks.all()]
        row.labels |= dict.fromkeys(one.name for one in marks if one.kind == "label")
    newest = Window(
        RowNumber(), partition_by="conversation", order_by=[F("started_at").desc(), F("id").desc()]
    )
    runs = Run.objects.filter(conversation__in=details).annotate(place=newest).filter(place=1)
    for run in runs.values(
        "conversation_id", "model", "turn__ms", number=F("copilot_version__number")
    ):
        details[run["conversation_id"]].run = run
    return details
