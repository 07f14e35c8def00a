"""Background jobs of all servers, from the database; without any content."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, TextChoices
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from copilot_admin.evaluation.results import summarize_runs
from copilot_admin.jobs.removal import get_unfinished
from copilot_admin.models import AlertDelivery, Copilot, DeliveryState, EvaluationRun, PendingImport
from copilot_admin.privacy.counting import MAX_COUNTED

MAX_SHOWN = 100  # of each kind; further ones are only counted


class WorkKind(TextChoices):
    """Kinds of background jobs."""

    DELETION = "deletion", _("Copilot being deleted")
    IMPORT = "import", _("Import awaiting confirmation")
    MESSAGES = "messages", _("Alert deliveries")
    EVALUATION = "evaluation", _("Test run")
    REMOVAL = "removal", _("Conversations being deleted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A background job.

    Attributes:
        of: Id of its row.
        copilot: Id of its copilot, if any.
        since: Start time, if known.
        moved_at: Last heartbeat.
        total: Number of items, of which `done` are done; None if unknown.
        is_moving: False if it waits for a user.
    """

    kind: WorkKind
    of: int = 0
    name: str
    state: str = ""
    copilot: int | None = None
    since: datetime | None = None
    moved_at: datetime | None = None
    done: int = 0
    total: int | None = None
    can_be_cancelled: bool = False
    is_moving: bool = True


def running() -> tuple[Work, ...]:
    """Return all unfinished jobs, in a constant number of queries."""
    return (
        *_evaluations(),
        *_deletions(),
        *_removals(),
        *_imports(),
        *_messages(),
    )


def queued_tasks() -> list[dict[str, object]]:
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


def _evaluations() -> Iterator[Work]:
    runs = EvaluationRun.objects.filter(state__in=EvaluationRun.ACTIVE).order_by("-pk")
    newest = list(runs.values_list("pk", flat=True)[:MAX_SHOWN])
    for one in summarize_runs(EvaluationRun.objects.filter(pk__in=newest)):
        yield Work(
            kind=WorkKind.EVALUATION,
            of=one.run.pk,
            name=f"{one.run.copilot.name}: {one.name}",
            state=one.run.get_state_display(),
            copilot=one.run.copilot_id,
            since=one.run.created_at,
            moved_at=one.run.heartbeat_at,
            done=one.counts.done,
            total=one.counts.total,
            can_be_cancelled=True,
        )


def _deletions() -> Iterator[Work]:
    marked = Copilot.objects.filter(deletion_requested_at__isnull=False)
    for row in marked.order_by("deletion_requested_at")[:MAX_SHOWN]:
        yield Work(
            kind=WorkKind.DELETION,
            name=row.name,
            since=row.deletion_requested_at,
            moved_at=row.deletion_moved_at,
        )


def _removals() -> Iterator[Work]:
    for row in get_unfinished().order_by("pk")[:MAX_SHOWN]:
        yield Work(
            kind=WorkKind.REMOVAL,
            name=f"{row.get_cause_display()}: {row.get_state_display()}",
            since=row.begun_at,
            moved_at=row.moved_at,
            done=min(row.total, row.counts.get("Conversation", 0)),
            total=row.total if row.total < MAX_COUNTED else None,
        )


def _imports() -> Iterator[Work]:
    rows = PendingImport.objects.defer("files").select_related("user").order_by("sent_at")
    for row in rows[:MAX_SHOWN]:
        yield Work(kind=WorkKind.IMPORT, name=str(row.user), since=row.sent_at, is_moving=False)


def _messages() -> Iterator[Work]:
    waiting = AlertDelivery.objects.filter(state=DeliveryState.WAITING).order_by()
    found = waiting.aggregate(number=Count("pk"), since=Min("made_at"), moved=Max("tried_at"))
    if found["number"]:
        yield Work(
            kind=WorkKind.MESSAGES,
            name=gettext("%(number)d not yet taken") % {"number": found["number"]},
            since=found["since"],
            moved_at=found["moved"],
        )
