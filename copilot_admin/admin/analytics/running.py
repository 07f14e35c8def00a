"""What is being answered at this moment."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q
from django.urls import reverse

from copilot_admin.models import Outcome, Run
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.store.checkpoints import SILENCE

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningNow:
    """An answer under way; `url` is empty where nothing is kept."""

    copilot: str
    model: str
    seconds: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The answers under way, the longest first; `more` are not shown."""

    runs: tuple[RunningNow, ...]
    more: bool


def running_now(
    copilots: tuple[int, ...] | None, users: tuple[int, ...] | None = None, *, at: datetime
) -> Running:
    """What runs, of processes that are alive; one query."""
    of = Q() if copilots is None else Q(of_copilot__in=copilots)
    if users is not None:
        of &= Q(of_user__in=users)
    # Few run at a time. By its columns SQLite would read all that a copilot or a user ever asked.
    named = Run.objects.alias(of_copilot=F("copilot_id") + 0, of_user=F("user_id") + 0)
    alive = named.filter(of, outcome=Outcome.RUNNING, heartbeat_at__gte=at - SILENCE)
    rows = alive.exclude(principal__startswith=PLAYGROUND).select_related("copilot")
    found = list(rows.order_by("started_at")[: MOST_SHOWN + 1])
    return Running(
        runs=tuple(_shown(run, at) for run in found[:MOST_SHOWN]), more=len(found) > MOST_SHOWN
    )


def _shown(run: Run, at: datetime) -> RunningNow:
    url = ""
    if run.conversation_id is not None:
        address = reverse("admin:copilot_admin_conversation_change", args=[run.conversation_id])
        url = f"{address}?turn={run.turn_id}#turn-{run.turn_id}"
    return RunningNow(
        copilot=run.copilot.name,
        model=run.model,
        seconds=max(0, (at - run.started_at) // timedelta(seconds=1)),
        url=url,
    )
