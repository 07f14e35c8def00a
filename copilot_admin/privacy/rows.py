"""The rows that hang on conversations, in the order in which they may go; deletes the first of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
import time
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from copilot_admin.models import (
    Checkpoint,
    Conversation,
    Event,
    Feedback,
    Mark,
    Node,
    Outcome,
    Run,
    Seat,
    Turn,
    TurnNote,
    TurnText,
    Verdict,
)
from copilot_admin.storage.many import delete_rows
from copilot_admin.transcripts.store.rollups import count_runs

ROWS = 400  # of one batch, about 20 ms: whoever waits for the writer waits no longer
# On a busy machine, and of PostgreSQL with its checks of each row, as many take several times that.
# A batch begins no more of them after so long; the commit comes to it.
SECONDS = 0.02
RUNS = ROWS  # without conversations, of which a batch knows the ids
PORTION = 50  # rows of a statement: the last one begins before the time is over


@dataclass(slots=True)
class Gone:
    """What a batch deleted: how many rows of each model, and the ids of the runs."""

    counts: Counter[str] = field(default_factory=Counter)
    runs: list[UUID] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The number of all rows together."""
        return self.counts.total()


def of_conversations(ids: Sequence[int]) -> Iterable[QuerySet[Any]]:
    """All rows of conversations, those first that others do not refer to."""
    yield Event.objects.filter(run__conversation_id__in=ids).order_by()
    yield Checkpoint.objects.filter(run__conversation_id__in=ids).order_by()
    yield Run.objects.filter(conversation_id__in=ids).order_by()
    yield Feedback.objects.filter(turn__conversation_id__in=ids).order_by()
    yield TurnText.objects.filter(conversation_id__in=ids).order_by()
    yield Mark.objects.filter(verdict__conversation_id__in=ids).order_by()
    yield Verdict.objects.filter(conversation_id__in=ids).order_by()
    yield Seat.objects.filter(conversation_id__in=ids).order_by()
    yield TurnNote.objects.filter(turn__conversation_id__in=ids).order_by()
    yield Turn.objects.filter(conversation_id__in=ids).order_by()
    yield Node.objects.filter(conversation_id__in=ids).order_by("-depth", "-id")
    yield Conversation.objects.filter(pk__in=ids).order_by()


def of_runs(runs: QuerySet[Run]) -> Iterable[QuerySet[Any]]:
    """The rows of the first runs without conversations, those first that others do not refer to.

    Most were refused and have none. To find that out of a million anew took each batch seconds.
    """
    some = list(runs.order_by().values_list("pk", flat=True)[:RUNS])
    yield Event.objects.filter(run__in=some).order_by()
    yield Checkpoint.objects.filter(run__in=some).order_by()
    yield Run.objects.filter(pk__in=some).order_by()


def delete_first(
    in_order: Iterable[QuerySet[Any]], *, clock: Callable[[], float] = time.monotonic
) -> Gone:
    """Deletes the first rows, as many as a batch may have."""
    gone, until = Gone(), clock() + SECONDS
    for rows in in_order:
        pks = _portion(rows, gone)
        while pks:
            if rows.model is Run:
                count_runs(pks)  # figures outlive runs
            gone.counts[rows.model.__name__] += delete_rows(rows.model._meta.pk, pks)
            if rows.model is Run:
                gone.runs += pks
            if gone.total >= ROWS or clock() >= until:
                return gone
            pks = _portion(rows, gone) if len(pks) == PORTION else []
    return gone


def _portion(rows: QuerySet[Any], gone: Gone) -> list[Any]:
    return list(rows.values_list("pk", flat=True)[: min(PORTION, ROWS - gone.total)])


def without_running(conversation_ids: Sequence[int]) -> list[int]:
    """Those of some conversations in which nothing is being answered."""
    running = Run.objects.filter(conversation_id__in=conversation_ids, outcome=Outcome.RUNNING)
    busy = set(running.values_list("conversation_id", flat=True))
    return [pk for pk in conversation_ids if pk not in busy]
