"""The page of figures, its files, and the strip of what is running."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from copilot_admin.admin.analytics.csv_file import csv_response
from copilot_admin.admin.analytics.running import running_now
from copilot_admin.admin.analytics.scope import FiguresScope, read_scope
from copilot_admin.admin.analytics.sections import FiguresSection, sections_of
from copilot_admin.admin.components.catalogue import ComponentViews
from copilot_admin.analytics.figures import MOST_ROWS, Figures
from copilot_admin.analytics.periods import WEEK, Resolution
from copilot_admin.analytics.rollup_figures import figures_of
from copilot_admin.analytics.user_figures import figures_of_users
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import fingerprint, record
from copilot_admin.copilots.tags import known_tags
from copilot_admin.models import Action, Copilot
from copilot_admin.transcripts.filter_conditions import PERIODS

VIEW = "copilot_admin.view_conversation"
FOLDER = "admin/copilot_admin/figures"
MOST_CHOICES = 1000


class FiguresViews(ComponentViews):
    """The figures of all copilots; whoever may see conversations may see what is counted of them."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        wrap = self.admin_view
        own: list[URLPattern | URLResolver] = [
            path("figures/", wrap(self.figures_view), name="figures"),
            path("figures/running/", wrap(self.running_now_view), name="figures_running"),
        ]
        return own + super().get_urls()

    def places(self, request: HttpRequest) -> list[dict[str, str]]:
        """The links of the rail that lead to no model."""
        places = super().places(request)
        if request.user.has_perm(VIEW):
            url = reverse(f"{self.name}:figures")
            places.append({"object_name": "Figures", "name": _("Figures"), "admin_url": url})
        return places

    @method_decorator(require_safe)
    def figures_view(self, request: HttpRequest) -> HttpResponseBase:
        """All figures of a period, or one of their tables as a file."""
        _check(request)
        now = timezone.now()
        scope = read_scope(request.GET, at=now)
        figures = _figures(scope)
        if "format" in request.GET:
            return _file(request, sections_of(figures, scope, most=MOST_ROWS), scope)
        context = {
            **self.each_context(request),
            "title": _("Figures"),
            "scope": scope,
            "figures": figures,
            "sections": sections_of(figures, scope),
            "running": running_now(scope.ids, scope.users, at=now),
            **_choices(scope),
            **_said(figures),
        }
        return render(request, f"{FOLDER}/page.html", context)

    @method_decorator(require_safe)
    def running_now_view(self, request: HttpRequest) -> HttpResponseBase:
        """The strip alone, for the script that keeps it up to date."""
        _check(request)
        now = timezone.now()
        scope = read_scope(request.GET, at=now)
        running = running_now(scope.ids, scope.users, at=now)
        return render(request, f"{FOLDER}/running.html", {"running": running})


def _check(request: HttpRequest) -> None:
    if not request.user.has_perm(VIEW):
        raise PermissionDenied


def _figures(scope: FiguresScope) -> Figures:
    if scope.users is None:
        return figures_of(scope.period, scope.ids)
    return figures_of_users(scope.period, scope.users, scope.ids)


def _file(
    request: HttpRequest, sections: list[FiguresSection], scope: FiguresScope
) -> HttpResponse:
    wanted = request.GET.get("table", "")
    exhibits = {one.key: one for section in sections for one in section.exhibits}
    if request.GET["format"] != "csv" or wanted not in exhibits:
        raise Http404
    table, now = exhibits[wanted].table, scope.period.now
    name = f"figures-{wanted}-{now.first:%Y-%m-%d}-{now.last_day:%Y-%m-%d}"
    facts = {"table": wanted, "from": now.first, "to": now.last_day, "copilots": scope.slugs}
    if scope.user:
        facts["user"] = {"mark": fingerprint(scope.user)}
    record(Action.EXPORTED, by=Actor.of(request), on=Subject("figures"), after=facts)
    return csv_response(name, table.columns, table.rows)


def _choices(scope: FiguresScope) -> dict[str, Any]:
    copilots = list(Copilot.objects.by_name().values_list("slug", "name")[:MOST_CHOICES])
    names = dict(copilots)
    return {
        "copilots": copilots,
        "chosen": [
            (slug, names.get(slug, slug), scope.query(without=slug)) for slug in scope.slugs
        ],
        "tags": known_tags(Copilot.objects.all()),
        "steps": _steps(scope),
        "periods": [(name, label, scope.query(days=name)) for name, label in PERIODS.items()],
    }


def _steps(scope: FiguresScope) -> list[tuple[Resolution, str, str]]:
    if scope.period.now.end - scope.period.now.first <= WEEK:
        return []
    labels = {Resolution.DAY: _("By day"), Resolution.WEEK: _("By week")}
    return [(one, label, scope.query(by=one.value)) for one, label in labels.items()]


def _said(figures: Figures) -> dict[str, Any]:
    before = figures.period.before
    return {
        "is_empty": not (figures.now["runs"] or figures.before["runs"]),
        "is_cut": bool(before.end.hour),
        "before_last": before.last_day,
    }
