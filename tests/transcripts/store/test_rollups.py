"""What the rollups say is what a full count of the log says, whatever comes late or twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
import pytest

from benchmarks.transcripts import make_filler
from copilot_admin.models import (
    CallerDay,
    Conversation,
    Criterion,
    CriterionKind,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    HourlyUsage,
    Logging,
    Outcome,
    Run,
    Turn,
)
from copilot_admin.transcripts.feedback import GivenFeedback, keep
from copilot_admin.transcripts.store import Refusal, usage
from copilot_admin.transcripts.store.opening import refuse
from copilot_admin.transcripts.store.reaping import reap
from copilot_admin.transcripts.store.usage import CountedRun, UsageKey, count
from copilot_admin.transcripts.verdicts import GivenVerdict, save_verdict
from tests.factories import make_key, make_user, make_version
from tests.transcripts.store.full_count import full_count, rollups
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

ROLLUPS = (DailyTotal, DailyUsage, HourlyUsage, ErrorUsage, CriterionUsage, CallerDay)


def thumb(turn_id: int, vote: str) -> None:
    keep(GivenFeedback.model_validate({"vote": vote}), turn=Turn.objects.get(pk=turn_id))


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
    refuse(
        Refusal(
            run_id=uuid4(),
            copilot_id=version.copilot_id,
            version_id=version.pk,
            version_number=version.number,
            logging=Logging.EVERYTHING,
            principal="key:99",
            started_at=START,
            error="e",
            error_code="LimitReached",
        )
    )


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
        save_verdict(talk, author, GivenVerdict(rating=rating, comment="", marks=marks))
    save_verdict(talk, one, GivenVerdict(rating="bad", comment="", marks={score.pk: 1}), turn=turn)


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
    assert HourlyUsage.objects.get().interrupted == 1
    assert rollups() == full_count()
    asked.answer("Hello")
    hour = HourlyUsage.objects.get()
    assert (hour.runs, hour.interrupted, hour.completed, hour.questions) == (1, 0, 1, 1)
    assert rollups() == full_count()


def test_all_tokens_that_were_counted_with_a_guessed_end_are_taken_out():
    asked = Client(trace_id="chat").ask("Hi")
    Run.objects.update(boot_id="another")
    reap(every_other_boot=True)
    Run.objects.update(input_tokens=7, output_tokens=5)
    for table in (DailyTotal, DailyUsage, HourlyUsage):
        table.objects.update(tokens=12)
    asked.answer("Hello")
    assert HourlyUsage.objects.get().tokens == 15
    assert rollups() == full_count()


def test_rollups_outlive_conversations():
    all_kinds()
    before = rollups()
    Run.objects.all().delete()
    Conversation.objects.all().delete()
    assert rollups() == before


def test_a_caller_who_is_counted_late_has_asked_in_his_first_hour():
    client = Client(principal="key:1")
    client.ask("Later").answer("-")
    early = client.another(now=START.replace(hour=3), principal="key:1")
    early.ask("Earlier").answer("-")
    assert CallerDay.objects.values_list("principal", "first_hour").get() == ("key:1", 3)


def test_a_caller_is_written_once_and_of_very_many_the_newest_are_known(
    monkeypatch, django_capture_on_commit_callbacks
):
    version = make_version()

    def writes(principal: str) -> bool:
        asked = UsageKey(
            at=START, copilot_id=version.copilot_id, version=1, model="m", principal=principal
        )
        with (
            CaptureQueriesContext(connection) as queries,
            django_capture_on_commit_callbacks(execute=True),
        ):
            count(asked, CountedRun(outcome=Outcome.COMPLETED))
        return any("callerday" in query["sql"] for query in queries)

    assert usage._MOST_KNOWN == 10_000
    monkeypatch.setattr(usage, "_MOST_KNOWN", 2)
    keys = (1, 1, 2, 1, 3, 3, 1)
    assert [writes(f"key:{key}") for key in keys] == [True, False, True, False, True, False, True]


@pytest.mark.django_db(transaction=True)
def test_several_processes_count_the_same_hour():
    version = make_version()
    asked = [Client(version=version).ask(f"Question {one}") for one in range(8)]

    def end(one: int) -> None:
        try:
            asked[one].answer("-")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(end, range(8)))
    assert HourlyUsage.objects.get().runs == 8
    assert rollups() == full_count()


@pytest.mark.parametrize("turns", [60, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_the_rollups_of_a_filled_journal_say_what_a_full_count_says(turns):
    versions = [make_version() for _ in range(5)]
    keys = [f"key:{make_key(f'Desk {one}')[0].pk}" for one in range(3)]
    make_filler(versions, ["anonymous", *keys]).fill(turns // 4, say=lambda _: None)
    author = make_user()
    with transaction.atomic():
        for talk in Conversation.objects.order_by("pk")[:: max(1, turns // 200)]:
            save_verdict(talk, author, GivenVerdict(rating="good", comment="", marks={}))
            save_verdict(talk, author, GivenVerdict(rating="bad", comment="", marks={}))
    assert Turn.objects.count() >= turns
    assert Run.objects.filter(started_at__lt=timezone.now()).exists()
    assert rollups() == full_count()


def test_a_verdict_that_was_counted_says_so_itself():
    """What is told of it, as in the audit trail, is read from the row at hand."""
    asked = Client(trace_id="chat").ask("Price?").answer("42")
    judged = GivenVerdict(rating="good", comment="", marks={})
    verdict = save_verdict(asked.conversation, make_user(), judged)
    assert verdict.is_counted
