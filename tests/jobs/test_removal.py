"""Erasure and retention delete selected data and all its rows in short batches, and nothing else."""

from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
import pytest

from copilot_admin import models
from copilot_admin.jobs import removal as removing
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.jobs.removal import begin_erasure, remove_batch, resume_removals
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.models import Conversation, Removal, Run
from copilot_admin.privacy import holds, retention, rows
from copilot_admin.privacy.rows import RemovalPreview, preview_removal
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.storage.spool import SPOOL
from copilot_admin.transcripts.store.end_rows import finish
from copilot_admin.transcripts.store.transcript_store import end_to_json, replay_spool
from tests.factories import make_call, make_case, make_result, make_user, make_version
from tests.jobs.test_deletion import everything, fill
from tests.transcripts.store.journaling import START, Client, ai, end_of

pytestmark = pytest.mark.django_db


def remove(scope=None, removal=None, **options):
    """Batches until all rows are gone; the removal."""
    removal = removal or begin_erasure(scope, **options)
    for _ in range(500):
        with transaction.atomic():
            step = remove_batch(removal.pk)
        if step is not BatchResult.MORE:
            assert step is BatchResult.DONE
            changes = {"principal": "", "user": None, "done_at": timezone.now()}
            removing._update(removal.pk, state=models.RemovalState.DONE, **changes)
            removal.refresh_from_db()
            return removal
    raise AssertionError("it does not end")


def learnt(conversation):
    """A test case that was made from the first turn of a conversation, and run once."""
    turn = models.Turn.objects.filter(conversation=conversation).first()
    case = make_case(conversation.copilot, source_turn=turn.pk, recorded_answer="a")
    make_result(case)
    return case


def test_a_caller_is_erased_and_the_others_keep_all():
    version = make_version()
    fill(version)
    before = everything()
    client = Client(version=version, principal="key:7", trace_id="theirs")
    client.ask("Mine").answer("Yours")
    removal = remove(PrivacyScope(principal="key:7"))
    kept = {"HourlyUsage", "DailyUsage", "DailyTotal", "ErrorUsage"}  # they name nobody
    after = everything()
    assert {k: v for k, v in after.items() if k not in kept} == {
        k: v for k, v in before.items() if k not in kept
    }
    assert (removal.state, removal.principal, removal.counts["Conversation"]) == ("done", "", 1)
    assert not models.CallerDay.objects.filter(principal="key:7").exists()


def test_a_period_takes_whole_conversations_that_were_active_in_it():
    version = make_version()
    talks = {}
    for day in (1, 5, 9):
        client = Client(
            version=version, trace_id=f"day {day}", now=datetime(2026, 3, day, tzinfo=UTC)
        )
        talks[day] = client.ask("q").answer("a").conversation.pk
    long = Client(version=version, trace_id="long", now=datetime(2026, 3, 2, tzinfo=UTC))
    long.ask("q").answer("a")
    long.now = datetime(2026, 3, 8, tzinfo=UTC)
    long.ask("q", ai("a"), "Still?").answer("Yes")
    remove(
        PrivacyScope(
            since=datetime(2026, 3, 4, tzinfo=UTC), until=datetime(2026, 3, 8, 1, tzinfo=UTC)
        )
    )
    assert set(Conversation.objects.values_list("pk", flat=True)) == {talks[1], talks[9]}


def test_an_answer_that_still_runs_is_waited_for():
    asked = Client(trace_id="running").ask("And now?")
    removal = begin_erasure(PrivacyScope(principal="anonymous"))
    assert remove_batch(removal.pk) is BatchResult.WAITING
    asked.answer("Done")
    remove(removal=removal)
    assert not Run.objects.exists()


def test_a_request_during_an_erasure_begins_a_new_conversation(monkeypatch):
    """Also without a trace id: the messages that are still there are not gone on with."""
    monkeypatch.setattr(rows, "MAX_BATCH_ROWS", 2)
    client = Client()
    old = client.ask("q").answer("a").conversation
    removal = begin_erasure(PrivacyScope(conversation=old.pk))
    remove_batch(removal.pk)
    assert Conversation.objects.get(pk=old.pk).principal == f"erased:{removal.pk}"
    new = client.ask("q", ai("a"), "More?").answer("Yes").conversation
    remove(removal=removal)
    assert Conversation.objects.get() == new


def test_the_end_of_an_erased_run_brings_nothing_back(django_capture_on_commit_callbacks):
    client = Client(trace_id="gone")
    asked = client.ask("q").answer("a")
    end = end_of(asked.run_id)
    SPOOL.put(asked.run_id, end_to_json(end))
    with django_capture_on_commit_callbacks(execute=True):
        remove(PrivacyScope(conversation=asked.conversation.pk))
    assert list(SPOOL.run_ids()) == []
    SPOOL.put(asked.run_id, end_to_json(end))  # of another machine, or of a crash before it went
    with django_capture_on_commit_callbacks(execute=True):
        assert replay_spool() == 0
    assert list(SPOOL.run_ids()) == []
    assert not finish(end) and not Run.objects.exists()


def test_exports_that_reach_over_what_is_erased_are_withdrawn():
    owner = make_user()
    asked = [Client(trace_id=str(one)).ask("q").answer("a").conversation.pk for one in range(3)]

    def export(bottom, top):
        made = models.TranscriptExport.objects.create(
            owner=owner, format="csv", query="q=secret", state="done", bottom=bottom, top=top,
            moved_at=timezone.now(), expires_at=timezone.now() + timedelta(days=7),
        )  # fmt: skip
        models.ExportPart.objects.create(export=made, ord=0, data=b"secret")
        return made

    over, beside = export(asked[0], asked[1]), export(asked[2], asked[2])
    remove(PrivacyScope(conversation=asked[1]))
    over.refresh_from_db()
    assert (over.state, over.query) == ("failed", "")
    assert list(models.ExportPart.objects.values_list("export_id", flat=True)) == [beside.pk]


def test_a_removal_that_stopped_is_taken_up_once(monkeypatch):
    going, stalled = (
        begin_erasure(PrivacyScope(principal="a")),
        begin_erasure(PrivacyScope(principal="b")),
    )
    Removal.objects.filter(pk=stalled.pk).update(moved_at=timezone.now() - timedelta(minutes=1))
    claimed = []
    monkeypatch.setattr(type(removing.remove), "enqueue", lambda _task, pk: claimed.append(pk))
    resume_removals()
    resume_removals()
    assert claimed == [stalled.pk]
    remove(removal=going)
    assert remove_batch(going.pk) is BatchResult.DONE


# Legal holds.


@pytest.mark.parametrize("kind", ["conversation", "caller", "copilot", "period"])
def test_a_hold_stops_erasure_and_the_deletion_of_the_copilot(kind):
    version = make_version()
    held = (
        Client(version=version, principal="key:7", trace_id="h").ask("q").answer("a").conversation
    )
    far = Client(version=version, trace_id="other", now=START + timedelta(days=30))
    far.ask("q").answer("a")
    scope = {
        "conversation": PrivacyScope(conversation=held.pk),
        "caller": PrivacyScope(principal="key:7"),
        "copilot": PrivacyScope(copilot=version.copilot_id),
        "period": PrivacyScope(since=START, until=START + timedelta(days=1)),
    }[kind]
    hold = holds.place(scope, reason="Case 12", by="ann")
    assert holds.holds_of(held) == [hold]
    remove(PrivacyScope(copilot=version.copilot_id))
    assert held in Conversation.objects.all()
    assert Conversation.objects.count() == (2 if kind == "copilot" else 1)
    mark_for_deletion([version.copilot_id])
    assert not models.Copilot.objects.get().is_being_deleted
    assert holds.release(hold.pk, by="bob")
    assert not holds.release(hold.pk, by="bob")
    assert holds.holds_of(held) == []
    remove(PrivacyScope(copilot=version.copilot_id))
    assert not Conversation.objects.exists()
    hold.refresh_from_db()
    assert (hold.placed_by_name, hold.released_by_name) == ("ann", "bob")


def test_the_database_itself_keeps_what_is_held():
    conversation = Client(trace_id="h").ask("q").answer("a").conversation
    holds.place(PrivacyScope(conversation=conversation.pk), reason="Case", by="ann")
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.delete_first_rows(rows.get_conversation_rows([conversation.pk]))
        transaction.get_connection().check_constraints()


def test_a_conversation_that_is_being_removed_cannot_be_held(monkeypatch):
    monkeypatch.setattr(rows, "MAX_BATCH_ROWS", 2)
    asked = Client(trace_id="mine").ask("q").answer("a")
    scope = PrivacyScope(conversation=asked.conversation.pk)
    removal = begin_erasure(scope)
    with transaction.atomic():
        assert remove_batch(removal.pk) is BatchResult.MORE
    with pytest.raises(ValueError, match="is being removed already"):
        holds.place(scope, reason="Case", by="ann")
    remove(removal=removal)
    assert not Conversation.objects.exists()


def test_a_preview_counts_the_rows_to_be_deleted():
    version = make_version()
    fill(version, conversations=2)
    asked = Client(version=version, trace_id="held", principal="key:1").ask("q").answer("a")
    Client(version=version, trace_id="running").ask("q")
    learnt(Conversation.objects.filter(principal="anonymous").earliest("pk"))
    models.TranscriptExport.objects.create(
        owner=User.objects.create(username="o"), format="csv", moved_at=START, expires_at=START
    )
    holds.place(PrivacyScope(conversation=asked.conversation.pk), reason="r", by="ann")
    expected = RemovalPreview(
        conversations=3, held=1, running=1, requests=5, turns=5, messages=9, votes=2, verdicts=2,
        calls=2, questions=1, exports=1,
    )  # fmt: skip
    make_call(copilot=version.copilot)
    assert preview_removal(PrivacyScope(copilot=version.copilot_id)) == expected
    assert not expected.is_empty
    assert preview_removal(PrivacyScope(conversation=0)).is_empty


# Retention.


def test_a_night_prunes_what_was_silent_for_longer_than_it_is_kept(settings):
    settings.PRUNE_HOUR = 2
    version = make_version()
    days = {}
    for age in (29, 30, 31, 40):
        client = Client(version=version, trace_id=f"{age} days", now=START - timedelta(days=age))
        days[age] = client.ask("q").answer("a").conversation.pk
    unlimited = Client(trace_id="x", now=START - timedelta(days=999)).ask("q").answer("a")
    learnt(Conversation.objects.get(pk=days[40]))
    models.Copilot.objects.filter(pk=version.copilot_id).update(retention_days=30)
    assert retention.begin_pruning(START.replace(hour=1, minute=59)) == []
    (begun,) = retention.begin_pruning(START.replace(hour=2))
    assert retention.begin_pruning(START) == []  # once a night, however many processes there are
    removal = remove(removal=Removal.objects.get(pk=begun))
    left = set(Conversation.objects.values_list("pk", flat=True))
    assert left == {days[29], days[30], unlimited.conversation.pk}
    assert (removal.total, removal.counts["Conversation"]) == (2, 2)
    assert models.TestCase.objects.count() == 1  # what a team learnt is its own
    assert len(retention.begin_pruning(START + timedelta(days=1))) == 1


def test_playground_copies_are_deleted_first_and_only_by_an_erasure():
    version = make_version()
    talk = Client(version=version, principal="key:7").ask("q").answer("a").conversation
    builder = Client(version=version, principal="playground:1", origin=talk.pk)
    tried = builder.ask("q").conversation  # still being answered
    own = Client(version=version, principal="playground:1").ask("mine").answer("a").conversation
    found = preview_removal(PrivacyScope(principal="key:7"))
    assert (found.conversations, found.running) == (2, 1)
    removal = begin_erasure(PrivacyScope(principal="key:7"))
    while (result := remove_batch(removal.pk)) is BatchResult.MORE:
        pass
    assert result is BatchResult.WAITING  # the trial is found through the original
    assert Conversation.objects.count() == 3
    Run.objects.filter(conversation=tried).update(outcome=models.Outcome.CANCELLED)
    remove(removal=removal)
    assert Conversation.objects.get() == own
