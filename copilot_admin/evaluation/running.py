"""What runs in the background of all processes, as the rows say: bounded, and without any content."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Count, Max, Min, Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from copilot_admin.evaluation.question_queue import UNFINISHED
from copilot_admin.evaluation.replay_decisions import GOING_ON, ReplayWish
from copilot_admin.evaluation.replay_reading import ReplayView, replay_views
from copilot_admin.jobs.removal import get_unfinished
from copilot_admin.models import (
    AlertDelivery,
    Copilot,
    DeliveryState,
    PendingImport,
    Replay,
    ReplayState,
    SavedAnswer,
)
from copilot_admin.privacy.counting import MAX_COUNTED

MOST_SHOWN = 100  # of each kind; more of them are counted
UNDER_WAY = (*GOING_ON, ReplayState.PAUSED, ReplayState.COST_BOUND)


class WorkKind(StrEnum):
    """What kind of work goes on in the background."""

    DELETION = "deletion"
    IMPORT = "import"
    MESSAGES = "messages"
    QUESTIONS = "questions"
    REMOVAL = "removal"
    REPLAY = "replay"


KINDS: Mapping[WorkKind, str | Promise] = {
    WorkKind.DELETION: gettext_lazy("Copilot being deleted"),
    WorkKind.IMPORT: gettext_lazy("Import that waits for a yes"),
    WorkKind.MESSAGES: gettext_lazy("Messages of alerts being delivered"),
    WorkKind.QUESTIONS: gettext_lazy("Saved questions being asked"),
    WorkKind.REMOVAL: gettext_lazy("Transcripts being removed"),
    WorkKind.REPLAY: gettext_lazy("Replay"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Something that is done in the background.

    Attributes:
        of: The id that its stop takes; of questions the copilot's.
        copilot: The id of the copilot that it is about, if any.
        since: When it began, if that is known.
        moved_at: The last sign of life of whoever does it.
        total: Of which `done` are done; None where nobody knows.
        wishes: What can be wanted of it.
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
    wishes: tuple[ReplayWish, ...] = ()

    @property
    def is_moving(self) -> bool:
        return self.kind is not WorkKind.IMPORT and (
            self.kind is not WorkKind.REPLAY or ReplayWish.PAUSE in self.wishes
        )

    @property
    def label(self) -> str:
        """What kind of work it is, in words."""
        return str(KINDS[self.kind])


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedTask:
    """A task that waits for a worker, is being done by one, or failed."""

    name: str
    status: str
    enqueued_at: datetime
    started_at: datetime | None
    workers: str
    error: str


def running() -> tuple[Work, ...]:
    """All that is under way; a constant number of queries."""
    return (
        *_replays(),
        *_questions(),
        *_deletions(),
        *_removals(),
        *_imports(),
        *_messages(),
    )


def queued_tasks() -> tuple[QueuedTask, ...]:
    """The tasks of workers that are not done, and those that failed: the newest first."""
    wanted = (TaskResultStatus.READY, TaskResultStatus.RUNNING, TaskResultStatus.FAILED)
    rows = DBTaskResult.objects.filter(status__in=wanted).order_by("-enqueued_at")
    columns = (
        "task_path",
        "status",
        "enqueued_at",
        "started_at",
        "worker_ids",
        "exception_class_path",
    )
    return tuple(
        QueuedTask(
            name=path.rpartition(".")[2],
            status=str(TaskResultStatus(status).label),
            enqueued_at=enqueued_at,
            started_at=started_at,
            workers=", ".join(map(str, workers)),
            error=error.rpartition(".")[2],
        )
        for path, status, enqueued_at, started_at, workers, error in rows.values_list(*columns)[
            :MOST_SHOWN
        ]
    )


def _replays() -> Iterator[Work]:
    ids = Replay.objects.filter(state__in=UNDER_WAY).order_by("-pk").values_list("pk", flat=True)
    for view in replay_views(Replay.objects.filter(pk__in=list(ids[:MOST_SHOWN]))):
        yield _replay(view)


def _replay(view: ReplayView) -> Work:
    replay = view.replay
    first = ReplayWish.PAUSE if replay.state in GOING_ON else ReplayWish.RESUME
    # A bound on cost is raised on the page of the replay.
    wishes = (
        (ReplayWish.STOP,) if replay.state == ReplayState.COST_BOUND else (first, ReplayWish.STOP)
    )
    return Work(
        kind=WorkKind.REPLAY,
        of=replay.pk,
        name=f"{replay.copilot.name}: {view.asked}",
        state=str(ReplayState(replay.state).label),
        copilot=replay.copilot_id,
        since=replay.created_at,
        moved_at=replay.moved_at,
        done=view.tally.done,
        total=view.tally.total,
        wishes=wishes,
    )


def _questions() -> Iterator[Work]:
    asked = Copilot.objects.annotate(
        total=Count("saved_questions__answers"),
        unfinished=Count(
            "saved_questions__answers", filter=Q(saved_questions__answers__state__in=UNFINISHED)
        ),
        moved=Max("saved_questions__answers__claimed_at"),
    )
    busy = SavedAnswer.objects.filter(state__in=UNFINISHED).order_by()
    ids = busy.values_list("question__copilot_id", flat=True).distinct()[:MOST_SHOWN]
    rows = asked.filter(pk__in=list(ids)).order_by("name")
    for pk, name, total, unfinished, moved in rows.values_list(
        "pk", "name", "total", "unfinished", "moved"
    ):
        yield Work(
            kind=WorkKind.QUESTIONS,
            of=pk,
            name=name,
            copilot=pk,
            moved_at=moved,
            done=total - unfinished,
            total=total,
            wishes=(ReplayWish.STOP,),
        )


def _deletions() -> Iterator[Work]:
    marked = Copilot.objects.filter(deletion_requested_at__isnull=False)
    for row in marked.order_by("deletion_requested_at")[:MOST_SHOWN]:
        yield Work(
            kind=WorkKind.DELETION,
            name=row.name,
            since=row.deletion_requested_at,
            moved_at=row.deletion_moved_at,
        )


def _removals() -> Iterator[Work]:
    for row in get_unfinished().order_by("pk")[:MOST_SHOWN]:
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
    for row in rows[:MOST_SHOWN]:
        yield Work(kind=WorkKind.IMPORT, name=str(row.user), since=row.sent_at)


def _messages() -> Iterator[Work]:
    waiting = AlertDelivery.objects.filter(state=DeliveryState.WAITING).order_by()
    found = waiting.aggregate(number=Count("pk"), since=Min("made_at"), moved=Max("tried_at"))
    if found["number"]:
        yield Work(
            kind=WorkKind.MESSAGES,
            name=_("%(number)d not yet taken") % {"number": found["number"]},
            since=found["since"],
            moved_at=found["moved"],
        )
