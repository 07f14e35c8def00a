"""The page of background jobs: what runs, what waits, and a button to cancel a test run."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Max, Min, Q, TextChoices
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from copilot_admin.admin.common.base import number_in
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.evaluation.queue import cancel_runs
from copilot_admin.jobs.removal import get_unfinished
from copilot_admin.models import (
    Action,
    AlertDelivery,
    Copilot,
    DeliveryState,
    EvaluationRun,
    PendingImport,
    ResultState,
)
from copilot_admin.privacy.rows import MAX_COUNTED

WATCH = "copilot_admin.watch_background"
FOLDER = "admin/copilot_admin/jobs"
MAX_SHOWN = 100  # jobs of each kind

Job = dict[str, Any]


class JobKind(TextChoices):
    DELETION = "deletion", gettext_lazy("Copilot being deleted")
    IMPORT = "import", gettext_lazy("Import awaiting confirmation")
    MESSAGES = "messages", gettext_lazy("Alert deliveries")
    EVALUATION = "evaluation", gettext_lazy("Test run")
    REMOVAL = "removal", gettext_lazy("Conversations being deleted")


@site.page("jobs/", name="jobs", permissions=(WATCH,), menu="Jobs")
@require_safe
def jobs_view(request: HttpRequest) -> HttpResponse:
    """List running and waiting jobs; htmx gets the rows alone."""
    jobs = find_jobs()
    context = {
        "jobs": jobs,
        "n_moving": sum(job["kind"] != JobKind.IMPORT for job in jobs),  # it waits for a user
        "tasks": _find_tasks(),
        "has_workers": settings.BACKGROUND == "database",
    }
    if request.headers.get("HX-Request"):
        response = render(request, f"{FOLDER}/rows.html", context)
        response["Cache-Control"] = "no-store"
        return response
    context |= {**site.each_context(request), "title": _("Background jobs")}
    return render(request, f"{FOLDER}/page.html", context)


@site.page("jobs/cancel/", name="jobs_cancel", permissions=(WATCH,))
@require_POST
def cancel_view(request: HttpRequest) -> HttpResponse:
    number = number_in(request.POST.get("of"))
    if not number or request.POST.get("kind") != JobKind.EVALUATION:
        raise Http404
    if cancel_runs(EvaluationRun.objects.filter(pk=number)):
        record(Action.STOPPED, by=Actor.of(request), on=Subject("evaluationrun", str(number)))
        messages.success(request, _("The test run was cancelled."))
    else:
        messages.info(request, _("This job has already ended."))
    return HttpResponseRedirect(reverse("admin:jobs"))


def find_jobs() -> list[Job]:
    """Return all unfinished jobs of all servers, in a constant number of queries."""
    return [*_find_evaluations(), *_find_deletions(), *_find_removals(), *_find_waiting()]


def _find_evaluations() -> Iterator[Job]:
    runs = EvaluationRun.objects.filter(state__in=EvaluationRun.ACTIVE).order_by("-pk")
    rows: Any = runs.defer("document").select_related("copilot")
    done = Count("results", filter=Q(results__state=ResultState.DONE))
    for run in rows.annotate(total=Count("results"), done=done)[:MAX_SHOWN]:
        yield {
            "kind": JobKind.EVALUATION,
            "run": run,
            "name": f"{run.copilot.name}: {run.target_name}",
            "since": run.created_at,
            "moved_at": run.heartbeat_at,
            "done": run.done,
            "total": run.total,
        }


def _find_deletions() -> Iterator[Job]:
    marked = Copilot.objects.filter(deletion_requested_at__isnull=False)
    for row in marked.order_by("deletion_requested_at")[:MAX_SHOWN]:
        yield {
            "kind": JobKind.DELETION,
            "name": row.name,
            "since": row.deletion_requested_at,
            "moved_at": row.deletion_moved_at,
            "total": None,
        }


def _find_removals() -> Iterator[Job]:
    for row in get_unfinished().order_by("pk")[:MAX_SHOWN]:
        yield {
            "kind": JobKind.REMOVAL,
            "name": f"{row.get_cause_display()}: {row.get_state_display()}",
            "since": row.begun_at,
            "moved_at": row.moved_at,
            "done": min(row.total, row.counts.get("Conversation", 0)),
            "total": row.total if row.total < MAX_COUNTED else None,
        }


def _find_waiting() -> Iterator[Job]:
    imports = PendingImport.objects.defer("files").select_related("user").order_by("sent_at")
    for row in imports[:MAX_SHOWN]:
        yield {"kind": JobKind.IMPORT, "name": row.user, "since": row.sent_at, "total": None}
    waiting = AlertDelivery.objects.filter(state=DeliveryState.WAITING).order_by()
    found = waiting.aggregate(number=Count("pk"), since=Min("made_at"), moved=Max("tried_at"))
    if found["number"]:
        yield {
            "kind": JobKind.MESSAGES,
            "name": _("%(number)d not yet taken") % {"number": found["number"]},
            "since": found["since"],
            "moved_at": found["moved"],
            "total": None,
        }


def _find_tasks() -> list[dict[str, object]]:
    """Return unfinished and failed tasks of workers, the newest first."""
    wanted = (TaskResultStatus.READY, TaskResultStatus.RUNNING, TaskResultStatus.FAILED)
    rows = DBTaskResult.objects.filter(status__in=wanted).order_by("-enqueued_at")
    return [
        {
            "name": row.task_path.rpartition(".")[2],
            "status": TaskResultStatus(row.status).label,
            "enqueued_at": row.enqueued_at,
            "started_at": row.started_at,
            "workers": ", ".join(map(str, row.worker_ids)),
            "error": row.exception_class_path.rpartition(".")[2],
        }
        for row in rows.defer("args_kwargs", "return_value", "traceback")[:MAX_SHOWN]
    ]
