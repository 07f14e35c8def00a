"""Migrations: complete, replacing those of development versions, with search and triggers."""

from collections.abc import Iterator

from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
import pytest

from copilot_admin.storage.schema import is_current
from tests.databases import IS_POSTGRESQL

pytestmark = [pytest.mark.database, pytest.mark.django_db]
APP = "copilot_admin"
SQUASHED = "0002_search_and_triggers"
AUDIT = f"{APP}_auditentry", f"{APP}_audithead"
TRIGGERS = {
    "sqlite": {
        *(f"{APP}_turntext_trigrams_{event}" for event in ("insert", "update", "delete")),
        *(f"{table}_{event}" for table in AUDIT for event in ("update", "delete", "replace")),
    },
    "postgresql": {
        *(f"{table}_{name}" for table in AUDIT for name in ("kept", "whole")),
        f"{APP}_audithead_step",
    },
}


def column(query: str) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        yield from (row[0] for row in cursor.fetchall())


def test_no_change_of_a_model_lacks_its_migration(capsys):
    call_command("makemigrations", check_changes=True, dry_run=True)
    assert capsys.readouterr().out == "No changes detected\n"


@pytest.fixture
def recorder() -> MigrationRecorder:
    return MigrationRecorder(connection)


def test_a_database_with_the_replaced_migrations_is_current(recorder):
    recorder.record_unapplied(APP, SQUASHED)
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes(APP)) == []


def test_a_database_with_some_of_them_is_rejected(recorder):
    recorder.record_unapplied(APP, "0017_demo_provider")
    with pytest.raises(CommandError):
        call_command("migrate", verbosity=0)
    assert not is_current()


def test_search_and_audit_objects_exist():
    if IS_POSTGRESQL:
        triggers = set(column("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"))
        indexes = set(column("SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%USING gin%'"))
        assert indexes == {"turn_text_trigrams", "feedback_reasons"}
    else:
        triggers = set(column("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
        tables = set(column("SELECT name FROM sqlite_master WHERE sql LIKE '%USING fts5%'"))
        assert tables == {f"{APP}_turntext_trigrams"}
    assert triggers == TRIGGERS[connection.vendor]
