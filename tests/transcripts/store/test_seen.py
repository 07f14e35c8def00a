"""Values of the log are noted once, within bounds, and again when they had been forgotten."""

from django.db import connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Outcome, SeenKind, SeenValue
from copilot_admin.privacy.erased_data import delete_reasons, find_unused_reasons
from copilot_admin.transcripts.store import seen
from copilot_admin.transcripts.store.seen import note_seen
from tests.transcripts.store.journaling import Client, ending

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def noted(kind: SeenKind) -> list[str]:
    return list(SeenValue.objects.filter(kind=kind).values_list("value", flat=True))


def test_what_callers_type_is_noted_up_to_a_number_and_the_rest_of_the_log_beyond_it(monkeypatch):
    monkeypatch.setattr(seen, "MAX_REASONS", 2)
    for number in range(4):
        note_seen(SeenKind.REASON, [f"reason {number}"])
        note_seen(SeenKind.MODEL, [f"model {number}", ""])
    assert noted(SeenKind.REASON) == ["reason 0", "reason 1"]
    assert noted(SeenKind.MODEL) == [f"model {number}" for number in range(4)]


def test_a_reason_that_was_forgotten_is_noted_when_it_comes_again():
    note_seen(SeenKind.REASON, ["Too long"])
    unused = find_unused_reasons()
    with CaptureQueriesContext(connection) as queries:
        delete_reasons(unused)
    assert not [query for query in queries if "copilot_admin_feedback" in query["sql"]]
    note_seen(SeenKind.REASON, ["Too long"])
    assert noted(SeenKind.REASON) == ["Too long"]


def test_models_and_errors_are_noted_when_a_run_is_counted():
    asked = Client().ask("Hi")
    assert noted(SeenKind.MODEL) == []
    asked.answer("x", ended=ending(Outcome.FAILED, error_code="no-model"))
    assert (noted(SeenKind.MODEL), noted(SeenKind.ERROR)) == ([asked.run.model], ["no-model"])


def test_of_a_long_value_the_beginning_is_noted_once():
    for end in ("a", "b"):
        note_seen(SeenKind.ERROR, ["x" * seen.MAX_LENGTH + end])
    assert noted(SeenKind.ERROR) == ["x" * 200]
