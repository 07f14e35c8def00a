"""Rows are read by statements that are built once, as the ORM would read them."""

from datetime import UTC, datetime
from uuid import uuid4

from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Conversation, Copilot, Node, Outcome, Run
from copilot_admin.storage.selects import Select, SelectMany
from tests.factories import make_version

pytestmark = [pytest.mark.database, pytest.mark.django_db]
AT = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)


def make_run(**values):
    run = {"started_at": AT, "heartbeat_at": AT, "boot_id": "b", **values}
    return Run.objects.create(id=uuid4(), **{"copilot": make_version().copilot, **run})


def make_conversation(**values):
    return Conversation.objects.create(
        copilot=make_version().copilot, first_at=AT, last_at=AT, **values
    )


def test_a_row_is_read_as_the_orm_reads_it():
    run = make_run(notes=["one"])
    read = Select(Run, "id", "notes", "started_at", "ms", where=("id", "outcome"), lock=True)
    assert read(id=run.pk, outcome=Outcome.RUNNING) == (run.pk, ["one"], AT, None)
    assert read(id=run.pk, outcome="failed") is None


def test_what_a_row_refers_to_is_read_with_it():
    version = make_version()
    version.provider.updated_at = AT
    version.provider.save(update_fields=["name"])
    read = Select(Copilot, "slug", "live__number", "live__provider__updated_at", where=("id",))
    found = read(id=version.copilot_id)
    version.provider.refresh_from_db()
    assert found == (version.copilot.slug, version.number, version.provider.updated_at)


def test_of_a_row_that_is_not_referred_to_nothing_is_read():
    run = make_run(copilot_version=None)
    read = Select(
        Run, "id", "copilot_version__number", "input_leaf__depth", where=("id",), lock=True
    )
    assert read(id=run.pk) == (run.pk, None, None)


@pytest.mark.parametrize("row", [(1, "a", None, None), (1, "a", 2, 0)])
def test_a_row_may_lead_nowhere(monkeypatch, row):
    assert message_read_as(row, monkeypatch) == row


@pytest.mark.parametrize(
    "row",
    [(None, "a", None, None), (1, None, None, None), (1, "a", 2, None), (1, "a", None, 0)],
)
def test_a_row_that_is_empty_where_its_table_never_is_is_an_outage(monkeypatch, row):
    """It was a fault of ours: a run crashed, and ran on in the database."""
    with pytest.raises(OperationalError, match="lacks"):
        message_read_as(row, monkeypatch)


def message_read_as(row, monkeypatch):
    read = Select(Node, "id", "text", "parent_id", "parent__depth", where=("id",))
    monkeypatch.setattr(read, "_execute", lambda *_: row)
    return read(id=1)


def test_a_row_can_be_one_that_is_unlike_another():
    one, other = make_conversation(title="a"), make_conversation(title="a")
    beside = Select(Conversation, "id", where=("title",), unlike=("id",))
    assert beside(title="a", id=one.pk) == (other.pk,)
    assert beside(title="b", id=one.pk) is None


def test_a_column_can_be_one_that_has_the_same_text_in_each_row_that_is_meant():
    one = make_conversation(title="a", principal="p")
    make_conversation(title="a", principal="q")
    of_p = Select(Conversation, "id", where=("title",), same={"principal": "p"})
    assert of_p(title="a") == (one.pk,)
    assert of_p(title="b") is None


@pytest.mark.parametrize("at", [AT, AT.replace(microsecond=0)])
def test_times_are_read_in_utc(at):
    read = Select(Run, "started_at", "conversation__first_at", where=("id",))
    run = make_run(started_at=at, conversation=make_conversation())
    assert read(id=run.pk) == (at, AT)
    assert {time.tzinfo for time in read(id=run.pk)} == {UTC}


def test_other_processes_wait_for_a_row_that_was_locked_and_not_for_what_it_refers_to():
    with CaptureQueriesContext(connection) as queries:
        Select(Node, "id", "conversation__title", where=("id",), lock=True)(id=1)
    locks = queries.captured_queries[0]["sql"].endswith('NO KEY UPDATE OF "copilot_admin_node"')
    assert locks is connection.features.has_select_for_update


def test_rows_are_looked_up_by_many_texts():
    for title in ("it's", '["b"]', "\U0001f600", "other"):
        make_conversation(title=title)
    read = SelectMany(Conversation, "title", "first_at", among="title")
    found = read.all(["it's", '["b"]', "\U0001f600", "never"])
    assert sorted(found) == sorted((one, AT) for one in ("it's", '["b"]', "\U0001f600"))
    assert read.all([]) == []


def test_of_many_rows_the_greatest_are_read_and_of_long_texts_the_beginning():
    for number in (1, 3, 2):
        make_conversation(title="same", principal=f"number {number}", n_runs=number)
    make_conversation(title="same", principal="elsewhere", n_runs=2, n_turns=1)
    read = SelectMany(
        Conversation,
        "principal",
        "title",
        among="title",
        where=("n_turns",),
        last="n_runs",
        most=2,
        cut={"title": 3},
    )
    assert read.all(["same"], n_turns=0) == [("number 3", "sam"), ("number 2", "sam")]


def test_a_statement_is_the_same_however_many_texts_are_looked_up():
    read = SelectMany(Conversation, "id", among="title")
    assert read.all(str(number) for number in range(40_000)) == []
