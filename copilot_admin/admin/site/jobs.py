"""The page of background jobs: what runs, what waits, and a button to cancel a test run."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.site.site import site
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.evaluation.queue import cancel_runs
from copilot_admin.evaluation.running import WorkKind, queued_tasks, running
from copilot_admin.models import Action, EvaluationRun

WATCH = "copilot_admin.watch_background"
FOLDER = "admin/copilot_admin/jobs"


@site.page("jobs/", name="jobs", permissions=(WATCH,), menu="Jobs")
@require_safe
def jobs_view(request: HttpRequest) -> HttpResponse:
    """List running and waiting jobs; htmx gets the rows alone."""
    if request.headers.get("HX-Request"):
        response = render(request, f"{FOLDER}/rows.html", _load_jobs())
        response["Cache-Control"] = "no-store"
        return response
    context = {**site.each_context(request), "title": _("Background jobs"), **_load_jobs()}
    return render(request, f"{FOLDER}/page.html", context)


@site.page("jobs/cancel/", name="jobs_cancel", permissions=(WATCH,))
@require_POST
def cancel_view(request: HttpRequest) -> HttpResponse:
    """Cancel a test run."""
    number = request.POST.get("of", "")
    if not number.isdecimal() or request.POST.get("kind") != WorkKind.EVALUATION:
        raise Http404
    if cancel_runs(EvaluationRun.objects.filter(pk=int(number))):
        record(Action.STOPPED, by=Actor.of(request), on=Subject("evaluationrun", number))
        messages.success(request, _("The test run was cancelled."))
    else:
        messages.info(request, _("This job has already ended."))
    return HttpResponseRedirect(reverse("admin:jobs"))


def _load_jobs() -> dict[str, Any]:
    jobs = running()
    return {
        "jobs": jobs,
        "n_moving": sum(job.is_moving for job in jobs),
        "tasks": queued_tasks(),
        "has_workers": settings.BACKGROUND == "database",
    }
