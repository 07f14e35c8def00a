"""A process counts the migrations that it was started with, not those that came later."""

from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
import pytest

from copilot_admin.storage import schema
from copilot_admin.storage.schema import is_current, known_migrations

pytestmark = pytest.mark.django_db


def test_new_code_on_the_disk_changes_nothing_for_a_running_process(monkeypatch):
    assert is_current()
    monkeypatch.setattr(MigrationLoader, "load_disk", _with_a_new_one)
    assert is_current()
    schema._migrations.cache_clear()
    try:
        assert not is_current()
    finally:
        monkeypatch.undo()
        schema._migrations.cache_clear()


def _with_a_new_one(self: MigrationLoader) -> None:
    new = Migration("9999_new", "copilot_admin")
    self.disk_migrations = {("copilot_admin", "9999_new"): new}


def test_a_newer_schema_will_do():
    recorder = MigrationRecorder(connection)
    recorder.record_applied("copilot_admin", "9999_new")
    assert is_current()


def test_a_missing_migration_will_not():
    MigrationRecorder(connection).record_unapplied(*max(known_migrations()))
    assert not is_current()
