"""A copilot is deleted in short batches, resumed where it stopped, and leaves nothing behind."""

from functools import partial

import pytest

from copilot_admin import models
from copilot_admin.jobs import deletion
from copilot_admin.jobs.blob_sweep import get_unreferenced_blobs, sweep_batch
from copilot_admin.jobs.deletion import delete_batch, mark_for_deletion
from copilot_admin.jobs.tasks import BACKGROUND, BatchResult
from copilot_admin.models import Conversation, Copilot, Run
from copilot_admin.privacy import rows as privacy_rows
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.matching.requests import prepare
from copilot_admin.transcripts.store.run_start import accept
from protocol.events import ArtifactType, MessageArtifact
from tests.factories import make_call, make_case, make_result, make_version
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client, ai

pytestmark = pytest.mark.django_db
BIG = [
    {"day": f"2026-01-{day % 28 + 1:02}", "price": day * 1.5, "word": "x" * 40}
    for day in range(400)
]


def fill(version, *, conversations=3):
    """Conversations with everything that they may have."""
    for number in range(conversations):
        client = Client(version=version, trace_id=f"chat {version.pk} {number}")
        table = MessageArtifact(
            type=ArtifactType.TABLE,
            uuid=f"u-{number}",
            artifact_name="T",
            description="d",
            content=[*BIG, {"day": str(number)}],
        )
        first = client.ask(f"q{number}").answer("An answer", table)
        second = client.ask(f"q{number}", ai("An answer"), "More?").answer("Yes")
        models.Feedback.objects.create(
            turn_id=first.accepted.turn_id, source=models.FeedbackSource.END_USER, value=1
        )
        judged(first)
        models.Checkpoint.objects.create(run_id=second.run_id, ord=0, data=b"")
    make_call(copilot=version.copilot)
    make_result(make_case(version.copilot))


def judged(asked):
    """All that reviewers may have said of a conversation."""
    of = {"conversation": asked.conversation}
    turn = models.Turn.objects.get(runs=asked.run)
    criterion, _ = models.Criterion.objects.get_or_create(name="Wrong")
    verdict = models.Verdict.objects.create(**of, turn=turn, rating="bad")
    models.Mark.objects.create(verdict=verdict, criterion=criterion, value=1)
    models.TurnNote.objects.create(turn=turn, text="A note")
    queue, _ = models.ReviewQueue.objects.get_or_create(name="Week")
    models.Assignment.objects.create(**of, queue=queue, place=1)


def delete(copilot_id):
    """Batches until the copilot is gone; how many they were."""
    batches = 1
    while delete_batch(copilot_id) is not BatchResult.DONE:
        batches += 1
        assert batches < 500
    return batches


def sweep():
    last, total = sweep_batch("")
    while last:
        last, deleted = sweep_batch(last)
        total += deleted
    return total


def everything():
    """Count the rows of each transcript table."""
    names = ("Conversation", "Node", "Turn", "Run", "Event", "Checkpoint", "Feedback", "Blob")
    names += ("Verdict", "Mark", "TurnNote", "Assignment")
    names = (*names, "DailyUsage", "ComponentCall", "CopilotVersion", "Copilot")
    names = (*names, "TestCase", "EvaluationRun", "EvaluationResult", "TurnText")
    names = (*names, "DailyTotal", "HourlyUsage", "ErrorUsage", "CriterionUsage", "CallerDay")
    return {name: getattr(models, name).objects.count() for name in names}


def test_a_deleted_copilot_leaves_nothing_behind_and_others_keep_all():
    stays = make_version()
    fill(stays)
    before = everything()
    gone = make_version()
    fill(gone)
    mark_for_deletion([gone.copilot_id])
    delete(gone.copilot_id)
    sweep()
    assert everything() == before
    assert get_unreferenced_blobs().count() == 0


def test_an_answer_that_still_runs_is_waited_for():
    version = make_version()
    fill(version)
    running = Client(version=version, trace_id="running").ask("And now?")
    silent = Client(version=version, logging=models.Logging.NOTHING).ask("Psst")
    mark_for_deletion([version.copilot_id])
    while delete_batch(version.copilot_id) is BatchResult.MORE:
        pass
    assert list(Conversation.objects.values_list("trace_id", flat=True)) == ["running"]
    assert set(Run.objects.values_list("pk", flat=True)) == {running.run_id, silent.run_id}
    running.answer("Done")
    while delete_batch(version.copilot_id) is BatchResult.MORE:
        pass
    assert list(Run.objects.values_list("pk", flat=True)) == [silent.run_id]
    silent.answer("Done")
    delete(version.copilot_id)
    assert not Copilot.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_background_deletes_sweeps_and_lets_questions_between(monkeypatch):
    version, other = make_version(), make_version()
    fill(version, conversations=4)
    monkeypatch.setattr(privacy_rows, "MAX_BATCH_ROWS", 10)
    asked = []

    def ask_between(copilot_id):
        prepared = prepare(Client(version=other).start("Hello"))
        asked.append(WRITER.submit(partial(accept, prepared)))
        return delete_batch(copilot_id)

    monkeypatch.setattr(deletion, "delete_batch", ask_between)
    deletion.delete_in_background([version.copilot_id])
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert all(future.result().conversation_id for future in asked) and len(asked) > 4
    assert list(Copilot.objects.values_list("pk", flat=True)) == [other.copilot_id]
    assert get_unreferenced_blobs().count() == 0
