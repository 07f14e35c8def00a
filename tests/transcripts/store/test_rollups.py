"""What the rollups say is what a full count of the log says, whatever comes late or twice."""

from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from copilot_admin.models import (
    CallerDay,
    Conversation,
    Criterion,
    CriterionKind,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    Feedback,
    HourlyUsage,
    Logging,
    Outcome,
    Run,
    Turn,
    Verdict,
)
from copilot_admin.transcripts.feedback import SubmittedFeedback, store_turn_feedback
from copilot_admin.transcripts.store.rollups import (
    count_feedback,
    count_finished_runs,
    count_verdicts,
)
from copilot_admin.transcripts.store.run_start import Rejection, reject
from copilot_admin.transcripts.store.transcript_store import reap
from copilot_admin.transcripts.verdicts import save_verdict
from tests.factories import make_key, make_user, make_version
from tests.transcripts.store.journaling import (
    START,
    Client,
    ai,
    call_echo,
    call_event,
    ending,
    result,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]

KEYS = ("day", "hour", "copilot_id", "version", "model", "code", "criterion_id", "principal")
ROLLUPS = (DailyTotal, DailyUsage, HourlyUsage, ErrorUsage, CriterionUsage, CallerDay)


def rollups() -> dict[str, dict[tuple[Any, ...], Any]]:
    """Return the numbers of the rollups when all is counted, without zeros."""
    while count_finished_runs():
        pass
    return {model.__name__: _rows(model) for model in ROLLUPS}


def _rows(model: Any) -> dict[tuple[Any, ...], Any]:
    counts = {}
    for row in model.objects.values():
        key = tuple(row[name] for name in KEYS if name in row)
        found = Counter({k: n for k, n in row.items() if n and k not in (*KEYS, "id")})
        if found:
            counts[key] = found
    return counts


def full_count() -> dict[str, dict[tuple[Any, ...], Any]]:
    for model in ROLLUPS:
        model.objects.all().delete()
    Run.objects.update(is_counted=False)
    Feedback.objects.update(counted=0)
    Verdict.objects.update(is_counted=False)
    while count_finished_runs():
        pass
    for feedback in Feedback.objects.all():
        count_feedback(feedback)
    count_verdicts(Verdict.objects.all())
    return rollups()


def thumb(turn_id: int, vote: str) -> None:
    store_turn_feedback(
        SubmittedFeedback.model_validate({"vote": vote}), turn=Turn.objects.get(pk=turn_id)
    )


def all_kinds() -> None:
    """A day with everything in it that counts, and with what does not."""
    version, (key, _) = make_version(), make_key()
    client = Client(version=version, trace_id="chat", principal=f"key:{key.pk}")
    first = client.ask("Price?").answer("Fetching", call_event())
    client.ask("Price?", call_echo(), result()).answer("42")
    client.ask("Price?").answer("Again", ended=ending(ttft_ms=80_000))  # asked again
    client.now += timedelta(days=1, hours=3)
    failed = ending(Outcome.FAILED, error_code="no-model", ttft_ms=None)
    late = client.ask("Price?", ai("Again"), "Late?").answer("x", ended=failed)
    Client(version=version).ask("Cut").answer("-", ended=ending(Outcome.TRUNCATED, ttft_ms=0))
    Client(version=version).ask("Left").answer(ended=ending(Outcome.CANCELLED, ttft_ms=None))
    Client(version=make_version(), logging=Logging.METADATA).ask("Secret").answer("-")
    Client(version=version, logging=Logging.NOTHING).ask("Nothing").answer("-")
    tried = Client(version=version, principal="playground:1").ask("Tried").answer("-")
    Client(version=version).ask("Still running")
    thumb(first.accepted.turn_id, "thumbs_up")
    thumb(late.accepted.turn_id, "thumbs_up")
    thumb(late.accepted.turn_id, "thumbs_down")
    thumb(tried.accepted.turn_id, "thumbs_up")
    rejection = Rejection(
        run_id=uuid4(),
        copilot_id=version.copilot_id,
        version_id=version.pk,
        logging=Logging.EVERYTHING,
        principal="key:99",
        started_at=START,
        error="e",
        error_code="LimitReached",
    )
    reject([rejection])


def judge_all_kinds() -> None:
    """Verdicts given, and given anew, on a conversation and on a turn."""
    label = Criterion.objects.create(name="Wrong")
    score = Criterion.objects.create(name="Depth", kind=CriterionKind.SCORE)
    one, other = make_user(), make_user()
    talk = Conversation.objects.get(title="Price?")
    turn = Turn.objects.filter(conversation=talk).latest("id").pk
    for author, rating, marks in (
        (one, "good", {label.pk: 1, score.pk: 4}),
        (other, "bad", {label.pk: 1}),
        (one, "mixed", {score.pk: 2}),
    ):
        save_verdict(talk, author, rating=rating, marks=marks)
    save_verdict(talk, one, rating="bad", marks={score.pk: 1}, turn=turn)


def test_the_rollups_say_what_a_full_count_says():
    all_kinds()
    judge_all_kinds()
    assert rollups() == full_count()
    day = DailyUsage.objects.get(day=START.date(), version=1, model="small-1", truncated=1)
    assert (day.runs, day.questions, day.conversations) == (6, 4, 3)
    assert (day.up, day.down, day.mixed, day.bad, day.good) == (1, 0, 1, 1, 0)
    assert CriterionUsage.objects.filter(number__gt=0).count() == 3


def test_a_run_that_seemed_dead_and_was_not_counts_once_with_its_real_end():
    asked = Client(trace_id="chat").ask("Hi")
    Run.objects.update(boot_id="another")
    reap(every_other_boot=True)
    rollups()
    assert HourlyUsage.objects.get().interrupted == 1
    assert rollups() == full_count()
    asked.answer("Hello")
    hour = HourlyUsage.objects.get()
    assert (hour.runs, hour.interrupted, hour.completed, hour.questions) == (1, 0, 1, 1)
    assert rollups() == full_count()
