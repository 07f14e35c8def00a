"""Migrations: complete, an upgrade for databases of the former chain, with search and triggers."""

from collections.abc import Iterator

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
import pytest

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


def names_of_code() -> list[str]:
    loader = MigrationLoader(None)
    plan = loader.graph.forwards_plan(loader.graph.leaf_nodes(APP)[0])
    return [name for app, name in plan if app == APP]


def replaced() -> list[tuple[str, str]]:
    return list(MigrationLoader(None).disk_migrations[APP, SQUASHED].replaces)


def column(query: str) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        yield from (row[0] for row in cursor.fetchall())


def test_no_change_of_a_model_lacks_its_migration(capsys):
    call_command("makemigrations", check_changes=True, dry_run=True)
    assert capsys.readouterr().out == "No changes detected\n"


def test_a_database_of_the_former_chain_has_only_later_migrations_to_apply():
    recorder = MigrationRecorder(connection)
    initial, squashed, *later = names_of_code()
    for name in (squashed, *later):
        recorder.record_unapplied(APP, name)
    applied = {name for app, name in recorder.applied_migrations() if app == APP}
    assert applied == {initial, *(name for _, name in replaced())}

    executor = MigrationExecutor(connection)

    plan = executor.migration_plan(executor.loader.graph.leaf_nodes(APP))
    assert [migration.name for migration, _ in plan] == later


def test_the_last_migration_of_the_former_chain_is_replaced():
    assert (len(replaced()), replaced()[-1]) == (51, (APP, "0059_indexes_of_beginnings"))


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
