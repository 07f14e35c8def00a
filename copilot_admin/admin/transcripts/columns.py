"""Columns of the list of conversations that readers choose."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F, Prefetch, Window, prefetch_related_objects
from django.db.models.functions import RowNumber
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.widgets import format_time
from copilot_admin.models import Conversation, CriterionKind, EndUser, Rating, Run, Verdict
from copilot_admin.pricing.cost import format_cost_sums
from copilot_admin.rendering.text import duration, number_text

TONES: Mapping[str, str] = {Rating.GOOD: "good", Rating.MIXED: "warn", Rating.BAD: "bad"}
MAX_LABELS = 3  # of a row
COLUMNS_COOKIE = "conversation_columns"  # names of the reader's columns, with dots between them


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list; narrow lists hide first those with the priority "wide" or "medium"."""

    name: str
    label: str | Promise
    cell: Callable[[Conversation], str | SafeString]
    priority: str = "medium"
    is_number: bool = False
    is_default: bool = True
    on_phone: bool = False
    sort: str = ""  # key of `SORTS`
    is_useful: Callable[[Iterable[Conversation]], bool] = lambda _rows: True


def _last_run(row: Conversation) -> Run | None:
    return next(iter(row.runs.all()), None)


def _show_verdict(row: Conversation) -> str | SafeString:
    ratings = [verdict.rating for verdict in row.verdicts.all() if verdict.rating]
    if not ratings:
        return ""
    tone, label = TONES[ratings[-1]], Rating(ratings[-1]).label
    return format_html('<span class="ca-chip ca-chip--{}">{}</span>', tone, label)


def _show_labels(row: Conversation) -> SafeString:
    marks = [mark.criterion for verdict in row.verdicts.all() for mark in verdict.marks.all()]
    names = dict.fromkeys(one.name for one in marks if one.kind == CriterionKind.LABEL)
    shown = [(name,) for name in names][:MAX_LABELS]
    return format_html_join(" ", '<span class="ca-tag">{}</span>', shown)


def _show_cost(row: Conversation) -> str | SafeString:
    cost = format_cost_sums(row)
    if row.n_unpriced and not row.cost:
        return ""
    return format_html('<span title="{}">{}</span>', cost.sentence, cost.text)


def _show_model(row: Conversation) -> str:
    run = _last_run(row)
    return run.model if run else ""


def _show_version(row: Conversation) -> str:
    run = _last_run(row)
    return f"v{run.copilot_version.number}" if run and run.copilot_version else ""


def _show_time(row: Conversation) -> str:
    run = _last_run(row)
    return duration(run.turn.ms) if run and run.turn and run.turn.ms else ""


COLUMNS: Sequence[Column] = (
    Column(
        "started",
        _("Started"),
        lambda row: format_time(row.first_at, "short"),
        is_number=True,
        is_default=False,
        sort="started",
    ),
    Column("copilot", _("Copilot"), lambda row: row.copilot.name, "wide"),
    Column(
        "user",
        _("User"),
        lambda row: str(row.user or ""),
        "wide",
        on_phone=True,
        is_useful=lambda _rows: EndUser.objects.exists(),
    ),
    Column("verdict", _("Verdict"), _show_verdict, "", on_phone=True),
    Column("labels", _("Labels"), _show_labels),
    Column("model", _("Model"), _show_model, is_default=False),
    Column("version", _("Version"), _show_version, is_default=False),
    Column(
        "tokens", _("Tokens"), lambda row: number_text(row.tokens), is_number=True, is_default=False
    ),
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


def prefetch_details(rows: Sequence[Conversation]) -> None:
    """Load the verdicts and the last run of conversations, which the columns show."""
    verdicts = Verdict.objects.filter(turn=None).order_by("updated_at")
    order = [F("started_at").desc(), F("id").desc()]
    place = Window(RowNumber(), partition_by="conversation", order_by=order)
    runs = (
        Run.objects.annotate(place=place)
        .filter(place=1)
        .select_related("copilot_version", "turn")
        .only("conversation", "model", "copilot_version__number", "turn__ms")
    )
    prefetch_related_objects(
        rows,
        Prefetch("verdicts", verdicts.prefetch_related("marks__criterion")),
        Prefetch("runs", runs),
    )
