"""Statements that are built once do what the ORM would do."""

from datetime import UTC, date, datetime, timedelta, timezone
from uuid import UUID, uuid4

from django.db import (
    DEFAULT_DB_ALIAS,
    DataError,
    IntegrityError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.models import Conversation, DailyUsage, Outcome, Run
from copilot_admin.storage.errors import execute_without_nul
from copilot_admin.storage.selects import Select
from copilot_admin.storage.statements import Delete, Insert, Update
from tests.databases import IS_POSTGRESQL
from tests.factories import make_version

pytestmark = [pytest.mark.database, pytest.mark.django_db]
AT = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)
DAY = date(2026, 11, 20)


def usage(**values):
    return {"day": DAY, "copilot_id": make_version().copilot_id, **values}


def make_run(**values):
    version = make_version()
    run_id = uuid4()
    row = {"id": run_id, "copilot_id": version.copilot_id, "started_at": AT, "heartbeat_at": AT}
    assert Insert(Run)(**row, boot_id="b", **values) is None
    return run_id


def test_a_row_is_inserted_with_the_defaults_of_its_fields():
    version = make_version()
    by_orm = Run.objects.create(
        copilot=version.copilot, started_at=AT, heartbeat_at=AT, boot_id="b", params={"a": [1]}
    )
    by_us = Run.objects.get(pk=make_run(params={"a": [1]}))
    skipped = {"id", "copilot_id"}
    assert {
        field.attname: getattr(by_us, field.attname)
        for field in Run._meta.concrete_fields
        if field.attname not in skipped
    } == {
        field.attname: getattr(by_orm, field.attname)
        for field in Run._meta.concrete_fields
        if field.attname not in skipped
    }


def test_values_of_other_types_than_the_column_s_are_made_fit():
    run_id = make_run(outcome=Outcome.FAILED, params={"a": [1]}, generation=True, model=7)
    row = Run.objects.get(pk=run_id)
    assert (row.outcome, row.params, row.generation, row.model) == ("failed", {"a": [1]}, 1, "7")


def test_the_id_of_an_inserted_row_is_returned():
    row = Insert(DailyUsage, returning=("id",))(**usage(model="m", runs=3))
    assert row == (DailyUsage.objects.get(runs=3).pk,)


def test_a_second_such_row_is_refused_ignored_or_returned():
    values = usage(model="m")
    Insert(DailyUsage)(**values)
    found = DailyUsage.objects.get()
    unique = ("day", "copilot_id", "version", "model")
    assert Insert(DailyUsage, returning=("id",), or_ignore=True)(**values, runs=9) is None
    existing = Insert(DailyUsage, returning=("id", "runs"), or_existing=unique)
    assert existing(**values, runs=9) == (found.pk, 0)
    with pytest.raises(IntegrityError):
        Insert(DailyUsage)(**values)


def test_nothing_is_changed_of_a_row_that_is_there_already():
    unique = ("day", "copilot_id", "version", "model")
    insert = Insert(DailyUsage, returning=("id", "model", "runs"), or_existing=unique)
    values = usage(model="m")
    first, second = insert(**values, runs=3), insert(**values, runs=9)
    other = insert(**values | {"model": "n"}, runs=4)
    assert first == second == (DailyUsage.objects.get(model="m").pk, "m", 3)
    assert other == (DailyUsage.objects.get(model="n").pk, "n", 4)


@pytest.mark.parametrize("name", ["colour", "id"])
def test_a_column_that_cannot_be_given_is_an_error(name):
    with pytest.raises(TypeError, match=f"No columns: {name}"):
        Insert(DailyUsage)(**usage(), **{name: 1})


def test_columns_are_set_added_to_and_made_true():
    conversation = Conversation.objects.create(
        copilot=make_version().copilot, principal="p", first_at=AT, last_at=AT, n_runs=2
    )
    update = Update(
        Conversation,
        where=("id", "principal"),
        set=("last_outcome", "ttft_ms"),
        add=("n_runs",),
        either=("has_error", "has_branch"),
    )
    values = {"last_outcome": Outcome.FAILED, "ttft_ms": None, "n_runs": 5, "has_branch": False}
    assert update(id=conversation.pk, principal="p", has_error=True, **values) == 1
    assert update(id=conversation.pk, principal="q", has_error=True, **values) == 0
    assert update(id=conversation.pk, principal="p", has_error=False, **values) == 1
    conversation.refresh_from_db()
    assert (conversation.last_outcome, conversation.ttft_ms, conversation.n_runs) == (
        Outcome.FAILED,
        None,
        12,
    )
    assert (conversation.has_error, conversation.has_branch) == (True, False)


def test_the_rows_that_are_meant_are_deleted():
    values = usage()
    for model in ("one", "two"):
        Insert(DailyUsage)(**values, model=model)
    delete = Delete(DailyUsage, where=("day", "model"))
    assert (delete(day=DAY, model="one"), delete(day=DAY, model="one")) == (1, 0)
    assert DailyUsage.objects.get().model == "two"


class TestWithoutDjangosCursors:
    """On SQLite a statement goes to the driver, unless Django has something to do on the way."""

    def test_whoever_listens_to_statements_hears_them(self):
        heard: list[str] = []

        def listen(execute, sql, params, many, context):
            heard.append(sql)
            return execute(sql, params, many, context)

        select = Select(DailyUsage, "runs", where=("model",))
        with connection.execute_wrapper(listen):
            assert select(model="none") is None
        assert select(model="none") is None
        assert len(heard) == 1
        with CaptureQueriesContext(connection) as captured:
            select(model="none")
        assert len(captured) == 1

    def test_a_transaction_that_broke_takes_no_more(self):
        with transaction.atomic():
            transaction.set_rollback(True)
            with pytest.raises(transaction.TransactionManagementError):
                Delete(DailyUsage, where=("model",))(model="m")

    def test_what_the_driver_raises_is_an_error_of_django(self):
        insert, values = Insert(DailyUsage), usage(model="m")
        insert(**values)
        with pytest.raises(IntegrityError) as raised, transaction.atomic():
            insert(**values)
        assert raised.value.__cause__ is not None


@pytest.mark.parametrize(
    "at", [AT, AT.replace(microsecond=0), AT.astimezone(timezone(timedelta(hours=5)))]
)
def test_times_and_ids_are_stored_as_the_orm_stores_them(at):
    run_id = uuid4()
    version = make_version()
    row = {"copilot_id": version.copilot_id, "started_at": at, "heartbeat_at": at, "boot_id": "b"}
    Insert(Run)(id=run_id, **row)
    by_orm = Run.objects.create(**row)
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, started_at FROM copilot_admin_run ORDER BY id")
        stored = {str(UUID(str(id))): (type(id), at) for id, at in cursor.fetchall()}
    assert stored[str(run_id)] == stored[str(by_orm.pk)]
    select = Select(Run, "id", "started_at", "conversation_id", where=("id",))
    assert select(id=str(run_id)) == (run_id, at, None)


@pytest.mark.parametrize("notes", [[], ["one"], [{"a": [1]}]])
def test_json_is_stored_as_the_orm_stores_it(notes):
    by_us, by_orm = make_run(notes=notes, params={}), uuid4()
    row = {"copilot": make_version().copilot, "started_at": AT, "heartbeat_at": AT}
    Run.objects.create(id=by_orm, notes=notes, params={}, **row)
    with connection.cursor() as cursor:
        cursor.execute("SELECT notes, params FROM copilot_admin_run")
        one, other = cursor.fetchall()
    assert one == other
    assert Run.objects.get(pk=by_us).notes == Run.objects.get(pk=by_orm).notes == notes


@pytest.mark.parametrize("came", [None, (None,)])
def test_a_row_that_does_not_come_back_is_an_outage(monkeypatch, came):
    """What was garbled on its way was a fault of ours."""
    insert = Insert(DailyUsage, returning=("id",))
    monkeypatch.setattr(insert, "_execute", lambda *_: came)
    with pytest.raises(OperationalError, match="did not come back"):
        insert(**usage())


def test_a_text_with_a_nul_is_refused():
    with pytest.raises(DataError, match="NUL"), transaction.atomic():
        Insert(DailyUsage)(**usage(model="a\0b"))
    assert not DailyUsage.objects.exists()


@pytest.mark.skipif(IS_POSTGRESQL, reason="its connections are asked by Django's cursors only")
def test_no_cursor_of_django_is_asked_where_nobody_listens(monkeypatch):
    """They cost more than what SQLite does for a row; what refuses texts is no listener."""
    values = usage(model="m", runs=1)
    listeners = list(connection.execute_wrappers)
    with monkeypatch.context() as patched:
        patched.setattr(connections[DEFAULT_DB_ALIAS], "cursor", None)  # whoever calls it fails
        Insert(DailyUsage)(**values)
    assert DailyUsage.objects.count() == 1
    assert listeners == [execute_without_nul]


def test_who_listens_hears_of_statements():
    heard = []

    def listen(execute, sql, params, many, context):
        heard.append(sql.partition(" ")[0])
        return execute(sql, params, many, context)

    values = usage(model="m", runs=1)
    with connection.execute_wrapper(listen):
        Insert(DailyUsage)(**values)
    assert heard == ["INSERT"]
