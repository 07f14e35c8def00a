"""What old rows lack is filled in the background."""

from django.utils import timezone
import pytest

from copilot_admin.agent.values.engine_input import FileRead
from copilot_admin.jobs import filling, tasks
from copilot_admin.jobs.background import BACKGROUND
from copilot_admin.jobs.filling import claim_stalled, fill_batch
from copilot_admin.models import (
    Conversation,
    Feedback,
    FeedbackSource,
    Filling,
    Logging,
    Outcome,
    SeenValue,
    TurnText,
)
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store.seen import forget_noted
from tests.clocks import when_missed
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client, ai, call_echo, call_event, ending, result

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def texts() -> dict[int, str]:
    return dict(TurnText.objects.values_list("pk", "text"))


def old_turns() -> dict[int, str]:
    """Turns of every kind whose texts are not written; what they will be."""
    client = Client(trace_id="chat-1")
    client.ask("Prices?").answer("Fetching them.", call_event())
    client.ask("Prices?", call_echo(), result()).answer("Forty-two")
    client.ask("Prices?").answer("Again")
    client.ask("Prices?", ai("Again"), "Почему?").answer(call_event("w-2"))
    client.ask("Prices?", ai("Again"), "Почему?", ai("-"), "Empty").answer(ended=ending())
    Client(logging=Logging.METADATA).ask("Secret").answer("Secret")
    written = texts()
    TurnText.objects.all().delete()
    Filling.objects.create(name="search", below=max(written) + 2)
    return written


def test_old_turns_get_the_texts_that_new_ones_have(monkeypatch):
    monkeypatch.setattr(filling, "AT_ONCE", 2)
    written = old_turns()
    batches = 1
    while not fill_batch("search"):
        batches += 1
    assert texts() == written
    assert batches == 3
    assert not Filling.objects.exists()
    assert fill_batch("search") is True


def test_it_goes_on_where_it_stopped_and_begins_with_the_newest(monkeypatch):
    monkeypatch.setattr(filling, "AT_ONCE", 1)
    written = old_turns()
    for _ in range(2):  # the newest has no content
        fill_batch("search")
    assert list(texts()) == [max(written)]
    assert Filling.objects.get().below == max(written)


def test_an_answer_that_ended_since_the_release_keeps_what_was_said_before():
    client = Client(trace_id="chat-1")
    client.ask("Why?").answer("First")
    TurnText.objects.all().delete()
    asked = client.ask("Why?").answer("Second")
    Filling.objects.create(name="search", below=asked.accepted.turn_id + 1)
    assert texts() == {asked.accepted.turn_id: "why?\nsecond"}
    fill_batch("search")
    assert texts() == {asked.accepted.turn_id: "why?\nfirst\nsecond"}


@when_missed
def test_a_filling_that_stopped_is_handed_to_one(since):
    Filling.objects.create(name="search", below=1)
    assert claim_stalled() == ["search"]
    assert claim_stalled() == []
    Filling.objects.update(moved_at=timezone.now() + since)
    assert claim_stalled() == ["search"]


def test_what_filters_ask_of_old_turns_is_found_out(monkeypatch):
    monkeypatch.setattr(filling, "AT_ONCE", 1)
    file = FileRead(name="a.pdf", kind="pdf", size=1, pages=1, pixels=None, note="", fault="")
    Client().ask("call").answer(call_event())
    Client().ask("file").answer(file, "-", ended=ending(Outcome.FAILED, error_code="no-model"))
    asked = Client().ask("plain").answer("-")
    Feedback.objects.create(
        turn_id=asked.accepted.turn_id, source=FeedbackSource.END_USER, value=1, tags=["Short"]
    )
    expected = flags()
    assert expected == {("call", True, False), ("file", False, True), ("plain", False, False)}
    Conversation.objects.update(has_call=False, has_file=False)
    SeenValue.objects.all().delete()
    forget_noted()
    Filling.objects.create(name="filters", below=asked.accepted.turn_id + 1)
    while not fill_batch("filters"):
        pass
    assert flags() == expected
    seen = set(SeenValue.objects.values_list("kind", "value"))
    assert seen == {("model", "small-1"), ("error", "no-model"), ("reason", "Short")}


def flags() -> set[tuple[str, bool, bool]]:
    return set(Conversation.objects.values_list("title", "has_call", "has_file"))


@pytest.mark.django_db(transaction=True)
def test_a_server_fills_in_the_background(monkeypatch):
    monkeypatch.setattr(filling, "AT_ONCE", 1)
    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    written = old_turns()
    WRITER.submit(tasks.resume_fillings).result(HANGS_SECONDS)
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert texts() == written
    assert not Filling.objects.exists()


def test_who_waits_for_a_worker_is_not_handed_over_twice(settings):
    from django_tasks_db.models import DBTaskResult

    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    Filling.objects.create(name="search", below=1)
    for _ in range(2):
        Filling.objects.update(moved_at=None)
        tasks.resume_fillings()
    assert DBTaskResult.objects.ready().count() == 1
