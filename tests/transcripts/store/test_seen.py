"""Values of the log are noted once, within bounds, and again when they had been forgotten."""

from datetime import UTC, datetime, timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Outcome, SeenKind, SeenValue
from copilot_admin.privacy.leftovers import forget_reasons, unused_reasons
from copilot_admin.transcripts.store import seen
from copilot_admin.transcripts.store.seen import note_seen
from tests.transcripts.store.journaling import Client, ending

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
NOW = datetime(2026, 11, 23, 8, 30, tzinfo=UTC)


def noted(kind: SeenKind) -> list[str]:
    return list(SeenValue.objects.filter(kind=kind).values_list("value", flat=True))


def test_what_callers_type_is_noted_up_to_a_number_and_the_rest_of_the_log_beyond_it(monkeypatch):
    monkeypatch.setattr(seen, "MOST_REASONS", 2)
    for number in range(4):
        note_seen(SeenKind.REASON, f"reason {number}")
        note_seen(SeenKind.MODEL, f"model {number}")
    assert noted(SeenKind.REASON) == ["reason 0", "reason 1"]
    assert noted(SeenKind.MODEL) == [f"model {number}" for number in range(4)]


def test_a_process_remembers_so_many_values_and_no_more(monkeypatch):
    monkeypatch.setattr(seen, "_MOST_KNOWN", 3)
    for number in range(10):
        note_seen(SeenKind.ERROR, f"error {number}")
        assert 1 <= len(seen._noted) <= 3
    assert len(noted(SeenKind.ERROR)) == 10


def test_a_reason_that_was_forgotten_is_noted_when_it_comes_again_an_hour_later(monkeypatch):
    monkeypatch.setattr(seen.timezone, "now", lambda: NOW)
    note_seen(SeenKind.REASON, "Too long")
    assert forget_reasons(unused_reasons()) == 1
    note_seen(SeenKind.REASON, "Too long")
    assert noted(SeenKind.REASON) == []

    monkeypatch.setattr(seen.timezone, "now", lambda: NOW + timedelta(hours=1))
    note_seen(SeenKind.REASON, "Too long")
    assert noted(SeenKind.REASON) == ["Too long"]


def test_the_thread_that_writes_reads_no_thumbs_to_forget_a_reason():
    note_seen(SeenKind.REASON, "Too long")
    unused = unused_reasons()
    with CaptureQueriesContext(connection) as queries:
        assert forget_reasons(unused) == 1
    assert not [query for query in queries if "copilot_admin_feedback" in query["sql"]]


def test_the_model_that_answered_is_noted_with_the_end_of_its_run():
    asked = Client().ask("Hi")
    assert noted(SeenKind.MODEL) == []
    asked.answer("Hello")
    assert noted(SeenKind.MODEL) == [asked.run.model]
    assert asked.run.model


def test_how_a_run_failed_is_noted_with_its_end():
    Client().ask("Hi").answer("x", ended=ending(Outcome.FAILED, error_code="no-model"))
    assert noted(SeenKind.ERROR) == ["no-model"]


def test_of_a_long_value_the_beginning_is_noted_once():
    for end in ("a", "b"):
        note_seen(SeenKind.ERROR, "x" * seen.LONGEST + end)
    assert noted(SeenKind.ERROR) == ["x" * 200]
