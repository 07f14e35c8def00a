"""`manage.py backup FILE`: write database, uploads and spool into one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.db import connection

from copilot_admin.jobs.backup import write_backup
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action, AuditEntry

MEGABYTE = 1_000_000


class Command(SanitizedCommand):
    help = (
        "Write database, uploads and spool into one file that only its owner can read. Servers may "
        "keep running. Secrets of the environment, such as encryption keys, are not included."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that doesn't exist yet")

    def handle(self, *, file: Path, **options: Any) -> None:
        write_backup(file.resolve())
        size = file.stat().st_size
        # Before an upgrade the database may not have an audit trail yet.
        if AuditEntry._meta.db_table in connection.introspection.table_names():
            self.record(Action.BACKED_UP, "database", {"bytes": size})
        self.stdout.write(f"Wrote {file} ({size / MEGABYTE:.1f} MB).")
