"""The page of background jobs: what runs, what waits, and buttons to pause or stop a run."""

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
from copilot_admin.evaluation.question_queue import stop
from copilot_admin.evaluation.replay_decisions import ReplayWish
from copilot_admin.evaluation.replay_tasks import wish
from copilot_admin.evaluation.running import WorkKind, queued_tasks, running
from copilot_admin.models import Action

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


@site.page("jobs/control/", name="jobs_control", permissions=(WATCH,))
@require_POST
def control_view(request: HttpRequest) -> HttpResponse:
    """Pause, resume or stop a job."""
    number, kind, command = (request.POST.get(name, "") for name in ("of", "kind", "wish"))
    if not number.isdecimal():
        raise Http404
    if _control(kind, int(number), command):
        record(
            Action.CHANGED,
            by=Actor.of(request),
            on=Subject(kind, number),
            after={"wish": command},
        )
        messages.success(request, _("Done. It may take a few seconds."))
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


def _control(kind: str, number: int, command: str) -> bool:
    try:
        wanted = ReplayWish(command)
    except ValueError as error:
        raise Http404 from error
    if kind == WorkKind.REPLAY:
        return wish(number, wanted)
    if kind == WorkKind.QUESTIONS and wanted is ReplayWish.STOP:
        stop(number)
        return True
    raise Http404
