"""Analytics: the page, its cards that load later, and files."""

from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from copilot_admin.admin.analytics.cards import CHARTS, Report, chart_rows, draw
from copilot_admin.admin.analytics.scope import AnalyticsScope, read_scope
from copilot_admin.admin.analytics.tables import PAGE_METRICS, TABLES, TableCard
from copilot_admin.admin.copilots.header import ANALYTICS, build_copilot_header
from copilot_admin.admin.site.site import site
from copilot_admin.analytics.metrics import FILE_METRICS
from copilot_admin.analytics.periods import WEEK, Resolution
from copilot_admin.audit.recording import Actor, Subject, fingerprint, record
from copilot_admin.copilots.names import known_tags
from copilot_admin.models import Action, Outcome, Run, SeenKind, SeenValue
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.rendering.tables import format_csv
from copilot_admin.transcripts.access import BUILD, VIEW
from copilot_admin.transcripts.filters import PERIODS
from copilot_admin.transcripts.store.transcript_store import SILENCE

FOLDER = "admin/copilot_admin/analytics"
MAX_CHOICES = 200
MAX_RUNNING = 20
_CSV_MARK = "\ufeff"  # so that spreadsheets read it as UTF-8


@site.page("analytics/", name="analytics", permissions=(VIEW, BUILD), menu="Analytics")
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Return the page."""
    scope = read_scope(request.GET, request.user, at=timezone.now())
    report = Report(scope)
    is_of_copilot = scope.copilot is not None and request.GET.get("from") == "copilot"
    context = {
        **site.each_context(request),
        "title": _("Analytics"),
        "copilot_header": build_copilot_header(request, scope.copilot, ANALYTICS)
        if is_of_copilot and scope.copilot
        else None,
        "scope": scope,
        "key_figures": report.key_figures(),
        "charts": [(card, draw(card, report)) for card in CHARTS],
        "tables": [
            (card, None if card.is_lazy else card.build(report, PAGE_METRICS))
            for card in _tables(scope)
        ],
        "is_empty": not (report.now["runs"] or report.before["runs"]),
        **_choices(scope),
        "running": find_running(scope, at=timezone.now()),
    }
    return render(request, f"{FOLDER}/page.html", context)


@site.page("analytics/<slug:key>/", name="analytics_card", permissions=(VIEW, BUILD))
@require_safe
def card(request: HttpRequest, key: str) -> HttpResponse:
    """Return one table, the answers under way, or a chart or table as a file."""
    scope = read_scope(request.GET, request.user, at=timezone.now())
    if key == "running":
        context = {"running": find_running(scope, at=timezone.now()), "scope": scope}
        return render(request, f"{FOLDER}/running.html", context)
    table = next((one for one in _tables(scope) if one.key == key), None)
    if request.GET.get("format") == "csv":
        chart = next((one for one in CHARTS if one.key == key), None)
        if chart:
            return _send_file(request, scope, f"{key}-by-time", chart_rows(chart, Report(scope)))
        if table:
            return _send_file(request, scope, key, table.build(Report(scope), FILE_METRICS).file())
    if table is None:
        raise Http404
    found = table.build(Report(scope), PAGE_METRICS)
    return render(request, f"{FOLDER}/table.html", {"card": table, "table": found, "scope": scope})


def _tables(scope: AnalyticsScope) -> list[TableCard]:
    is_all = scope.traffic.users is None and not scope.traffic.is_partial
    return [card for card in TABLES if card.of_users or is_all]


def _send_file(
    request: HttpRequest, scope: AnalyticsScope, key: str, rows: list[list[Any]]
) -> HttpResponse:
    """Return a CSV file in which no cell is a formula."""
    now = scope.period.now
    facts: dict[str, Any] = {"table": key, "from": now.first, "to": now.last_day}
    facts["copilots"] = [scope.copilot.slug] if scope.copilot else []
    if scope.user:
        facts["user"] = {"mark": fingerprint(scope.user)}
    record(Action.EXPORTED, by=Actor.of(request), on=Subject("analytics"), after=facts)
    name = f"analytics-{key}-{now.first:%Y-%m-%d}-{now.last_day:%Y-%m-%d}.csv"
    return HttpResponse(
        _CSV_MARK + format_csv(rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _choices(scope: AnalyticsScope) -> dict[str, Any]:
    """Return the values of the filters, each with the query string that chooses it."""
    copilot, model, version = scope.copilot, scope.traffic.model, scope.given["version"]
    by = {Resolution.DAY: _("Days"), Resolution.WEEK: _("Weeks")}
    is_long = scope.period.now.end - scope.period.now.first > WEEK
    none = {"copilot": "", "tag": "", "version": "", "from": ""}
    is_of_copilot = scope.given["from"] == "copilot"  # that copilot is no filter then
    chosen = copilot.name if copilot else f"#{scope.tag}" if scope.tag else ""
    copilots = scope.readable.in_use().by_name()[:MAX_CHOICES]
    versions = copilot.versions.order_by("-number")[:MAX_CHOICES] if copilot else ()
    seen = SeenValue.objects.filter(kind=SeenKind.MODEL).order_by("value")
    models = seen.values_list("value", flat=True)[:MAX_CHOICES]
    # Name, label, chosen label, query string of all, and label and query string of each value.
    menus: list[tuple[str, str, str, str, list[tuple[str, str]]]] = [
        (
            "model",
            _("Model"),
            model,
            scope.query(model=""),
            [(one, scope.query(model=one)) for one in models],
        ),
    ]
    if copilot:
        numbers = [(f"v{one.number}", scope.query(version=str(one.number))) for one in versions]
        shown = f"v{version}" if version else ""
        menus.insert(0, ("version", _("Version"), shown, scope.query(version=""), numbers))
    if not is_of_copilot:
        found = [
            *((one.name, scope.query(**{**none, "copilot": str(one.pk)})) for one in copilots),
            *(
                (f"#{tag}", scope.query(**{**none, "tag": tag}))
                for tag in known_tags(scope.readable)
            ),
        ]
        menus.insert(0, ("copilot", _("Copilot"), chosen, scope.query(**none), found))
    kept = {} if is_of_copilot else none
    return {
        "periods": [(label, scope.query(days=name), name) for name, label in PERIODS.items()],
        "period": PERIODS.get(scope.period.name),
        "resolutions": [(label, scope.query(by=one), one) for one, label in by.items() if is_long],
        "menus": menus,
        "compare_url": scope.query(compare="no" if scope.is_compared else ""),
        "clear_url": scope.query(**{**kept, "version": "", "model": "", "user": ""}),
        "has_filters": bool(model or scope.user or version or (chosen and not is_of_copilot)),
    }


def find_running(scope: AnalyticsScope, *, at: datetime) -> "QuerySet[Run]":
    """Return the answers under way in processes that are alive, the longest first."""
    wanted, traffic = Q(), scope.traffic
    if traffic.copilots is not None:
        wanted = Q(of_copilot__in=traffic.copilots)
    if traffic.users is not None:
        wanted &= Q(of_user__in=traffic.users)
    # Few run at a time. By its columns SQLite would read all that a copilot or user ever asked.
    named = Run.objects.alias(of_copilot=F("copilot_id") + 0, of_user=F("user_id") + 0)
    alive = named.filter(wanted, outcome=Outcome.RUNNING, heartbeat_at__gte=at - SILENCE)
    rows = alive.exclude(principal__startswith=PLAYGROUND).select_related("copilot")
    return rows.annotate(running_for=at - F("started_at")).order_by("started_at")[:MAX_RUNNING]
