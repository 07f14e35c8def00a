"""Views of the Test tab."""

from collections.abc import Callable, Iterable
import json
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from copilot_admin.admin.common.base import number_in
from copilot_admin.admin.copilots.header import TEST, build_copilot_header
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.admin.evaluation.forms import CaseForm, GateForm, ImportForm, RunForm
from copilot_admin.admin.evaluation.page import build_chart, build_rows, read_answers
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.copilots.test_cases import move_case
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.queue import cancel_runs
from copilot_admin.evaluation.results import export_rows, needs_attention, read_columns
from copilot_admin.evaluation.worker import start_runs
from copilot_admin.import_export.formats import as_json
from copilot_admin.import_export.questions import add_case
from copilot_admin.models import Action, Copilot, EvaluationRun, PublishGate, TestCase
from copilot_admin.rendering.tables import format_csv

FOLDER = "admin/copilot_admin/tests"
NAME = "copilot_admin_copilot_test"
CASES_PER_PAGE = 50
READ, CHANGE, POST = "read", "change", "post"  # what a view does; only the last rejects GET
View = Callable[..., HttpResponseBase]


def evaluation_urls(pages: CopilotViews) -> list[URLPattern]:
    routes: tuple[tuple[str, str, View, str], ...] = (
        ("", "s", tests_view, READ),
        ("table/", "s_table", table_view, READ),
        ("export/", "s_export", export_view, READ),
        ("add/", "_add", case_view, CHANGE),
        ("import/", "s_import", import_view, CHANGE),
        ("run/", "s_run", run_view, CHANGE),
        ("gate/", "s_gate", gate_view, CHANGE),
        ("<id:number>/", "", case_view, CHANGE),
        ("cancel/", "s_cancel", cancel_view, POST),
        ("<id:number>/move/", "_move", move_view, POST),
        ("<id:number>/delete/", "_delete", delete_view, POST),
        ("runs/<id:number>/delete/", "s_run_delete", delete_run_view, POST),
    )
    return [
        path(
            f"<id:pk>/tests/{route}",
            pages.admin_site.admin_view(_bind(view, pages, kind)),
            name=f"{NAME}{suffix}",
        )
        for route, suffix, view, kind in routes
    ]


def _bind(view: View, pages: CopilotViews, kind: str) -> View:
    """Return a view of a URL that passes on the copilot, if the user may read or change it."""

    def respond(request: HttpRequest, pk: int, **rest: int) -> HttpResponseBase:
        copilot = pages.looked_at(request, pk, changing=kind != READ)
        return view(pages, request, copilot, **rest)

    return require_POST(respond) if kind == POST else respond


def tests_view(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
    return _render(pages, request, copilot)


def table_view(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
    return render(request, f"{FOLDER}/table.html", _read_table(pages, request, copilot))


def case_view(
    pages: CopilotViews, request: HttpRequest, copilot: Copilot, number: int | None = None
) -> HttpResponseBase:
    case = TestCase(copilot=copilot)
    if number is not None:
        case = get_object_or_404(TestCase, copilot=copilot, pk=number)
        case.copilot = copilot
    form = CaseForm(case, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            with transaction.atomic():
                saved = form.save()
                _audit(request, Action.CHANGED if number else Action.ADDED, copilot, saved.pk)
        except ConfigurationError as error:
            form.add_error(None, error.public)
        else:
            messages.success(request, _("Test saved.") if number else _("Test added."))
            return _redirect(copilot, "_add" if "_another" in request.POST else "s")
    data = as_json(case.test_data) if case.test_data else ""
    return _render(pages, request, copilot, panel="case", form=form, case=case, data=data)


def import_view(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if form.is_bound and form.is_valid():
        entries = form.cleaned_data["file"]
        try:
            with transaction.atomic():
                ids = [add_case(copilot, entry).pk for entry in entries]
                _audit(request, Action.ADDED, copilot, ids=ids)
        except ConfigurationError as error:
            form.add_error("file", error.public)
        else:
            text = ngettext("%d test imported.", "%d tests imported.", len(ids))
            messages.success(request, text % len(ids))
            return _redirect(copilot)
    problems: Iterable[Any] = form.errors.get("file", [])
    lines = [line for text in problems for line in str(text).split("\n")]
    return _render(pages, request, copilot, panel="import", form=form, lines=lines)


def run_view(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
    form = RunForm(copilot, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        for run in form.runs:
            run.started_by_id = request.user.pk
        try:
            with transaction.atomic():
                start_runs(form.runs, form.get_cases())
                for run in form.runs:
                    facts = {"copilot": copilot.slug, "target": run.target}
                    pages.audit(request, Action.STARTED, run, after=facts)
        except ConfigurationError as error:
            form.add_error(None, error.public)
        else:
            return _redirect(copilot)
    return _render(pages, request, copilot, panel="run", form=form)


def gate_view(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
    gate = PublishGate.objects.filter(pk=copilot.pk).first() or PublishGate(copilot=copilot)
    form = GateForm(request.POST if request.method == "POST" else None, instance=gate)
    if form.is_bound and form.is_valid():
        with transaction.atomic():
            saved = form.save_or_delete()
            after = {"min_percent": saved.min_percent if saved else None}
            pages.audit(request, Action.CHANGED, copilot, after={"publish gate": after})
        messages.success(request, _("Requirement saved."))
        return _redirect(copilot)
    return _render(pages, request, copilot, panel="gate", form=form)


def cancel_view(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
    if cancel_runs(EvaluationRun.objects.filter(copilot=copilot)):
        pages.audit(request, Action.STOPPED, copilot, after={"work": "evaluation"})
        messages.info(request, _("The run was cancelled. Results so far are kept."))
    return _redirect(copilot)


def move_view(
    pages: CopilotViews, request: HttpRequest, copilot: Copilot, number: int
) -> HttpResponseBase:
    case = get_object_or_404(TestCase.objects.defer("test_data"), copilot=copilot, pk=number)
    move_case(case, by=-1 if request.POST.get("direction") == "up" else 1)
    return _redirect(copilot, anchor=f"#case-{number}")


def delete_view(
    pages: CopilotViews, request: HttpRequest, copilot: Copilot, number: int
) -> HttpResponseBase:
    case = get_object_or_404(TestCase.objects.defer("test_data"), copilot=copilot, pk=number)
    with transaction.atomic():
        case.delete()
        _audit(request, Action.DELETED, copilot, number)
    messages.success(request, _("Test deleted."))
    return _redirect(copilot)


def delete_run_view(
    pages: CopilotViews, request: HttpRequest, copilot: Copilot, number: int
) -> HttpResponseBase:
    run = get_object_or_404(EvaluationRun, copilot=copilot, pk=number)
    with transaction.atomic():
        run.delete()
        by, on = Actor.of(request), Subject("evaluationrun", str(number))
        record(Action.DELETED, by=by, on=on, after={"copilot": copilot.slug})
    messages.success(request, _("Run deleted."))
    return _redirect(copilot)


def export_view(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> HttpResponseBase:
    rows = export_rows(read_columns(copilot))
    kind = request.GET.get("format")
    if kind == "json":
        text, content_type = json.dumps(rows, indent=2, ensure_ascii=False), "application/json"
    elif kind == "csv":
        header = list(rows[0]) if rows else []
        text = "\ufeff" + format_csv([header, *(list(row.values()) for row in rows)])
        content_type = "text/csv; charset=utf-8"
    else:
        raise Http404
    pages.audit(request, Action.EXPORTED, copilot, after={"results": len(rows), "format": kind})
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{copilot.slug}-tests.{kind}"'
    return response


def _redirect(copilot: Copilot, suffix: str = "s", *, anchor: str = "") -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse(f"admin:{NAME}{suffix}", args=[copilot.pk]) + anchor)


def _audit(
    request: HttpRequest, action: Action, copilot: Copilot, number: int | str = "", **facts: Any
) -> None:
    after = {"copilot": copilot.slug, **facts}
    record(action, by=Actor.of(request), on=Subject("testcase", str(number)), after=after)


def _render(
    pages: CopilotViews,
    request: HttpRequest,
    copilot: Copilot,
    *,
    panel: str = "",
    form: BaseForm | None = None,
    **more: Any,
) -> HttpResponseBase:
    context = {
        **pages.page_context(request, _("Test")),
        "copilot_header": build_copilot_header(request, copilot, TEST),
        "panel": panel,
        "form": form,
        **_read_table(pages, request, copilot),
        **more,
    }
    return render(request, f"{FOLDER}/page.html", context)


def _read_table(pages: CopilotViews, request: HttpRequest, copilot: Copilot) -> dict[str, Any]:
    columns = read_columns(copilot)
    cases = TestCase.objects.filter(copilot=copilot).defer("test_data", "recorded_answer")
    shows_problems = request.GET.get("show") == "problems"
    if shows_problems:
        ids = {pk for one in columns for pk in one.results if needs_attention(one, pk)}
        cases = cases.filter(pk__in=ids)
    page = Paginator(cases, CASES_PER_PAGE).get_page(request.GET.get("page"))
    opened = number_in(request.GET.get("open"))
    gate = PublishGate.objects.filter(pk=copilot.pk).first()
    return {
        "copilot": copilot,
        "columns": columns,
        "is_active": any(one.run.is_active for one in columns),
        "n_done": sum(
            one.counts.total - one.counts.pending for one in columns if one.counts.pending
        ),
        "n_all": sum(one.counts.total for one in columns if one.counts.pending),
        "page": page,
        "rows": build_rows(page.object_list, columns),
        "n_cases": copilot.test_cases.count(),
        "opened": opened,
        "answers": read_answers(copilot, opened, columns) if opened else None,
        "shows_problems": shows_problems,
        "query": request.GET.urlencode(),
        "chart": build_chart(copilot, gate),
        "gate": gate,
        "may_change": pages.has_change_permission(request, copilot),
    }
