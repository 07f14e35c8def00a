"""Check that the database has the tables that this process needs."""

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from django.core.management import CommandError
from django.db import connection, connections
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

_Name: TypeAlias = tuple[str, str]  # application, migration


@cache
def _migrations() -> Mapping[_Name, Migration]:
    """Load the migrations of the code that runs: those on the disk when this was called first.

    A server calls it when it starts. What is put on the disk later counts for the next process.
    """
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    return loader.disk_migrations or {}


def known_migrations() -> frozenset[_Name]:
    return frozenset(_migrations())


def replaced_migrations() -> frozenset[_Name]:
    """Names of older migrations that the known ones replace; a migrated database records them too."""
    return frozenset(name for one in _migrations().values() for name in one.replaces)


def is_current() -> bool:
    """Return whether all known migrations are applied; a newer schema is current too."""
    applied = MigrationRecorder(connection).applied_migrations().keys()
    return known_migrations() | replaced_migrations() <= applied


def reject_partial_upgrade(*, using: str, **_: object) -> None:
    """Stop `migrate` for a database that has only some of the replaced migrations.

    Raises:
        CommandError: Django would apply nothing, and the tables would be the old ones.
    """
    recorder = MigrationRecorder(connections[using])
    applied = {name for name in recorder.applied_migrations() if name[0] == "copilot_admin"}
    if len(applied) > 1 and not replaced_migrations() <= applied:
        raise CommandError(
            "This database is of an earlier development version. Run `migrate` with the last "
            "version that has 0017_demo_provider, then with this one. See docs/operations.md."
        )
