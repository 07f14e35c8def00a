"""`manage.py backup FILE`: database, uploads and spool in one file."""

from argparse import ArgumentParser
import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.backups.backing_up import back_up
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action, AuditEntry

MEGABYTE = 1_000_000


class Command(SanitizedCommand):
    """Writes a backup while servers go on."""

    help = (
        "Writes database, uploads and spool into one file that only its owner may read. Servers go on "
        "meanwhile. Keys of the environment are not in it."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the file."""
        parser.add_argument("file", type=Path, help="a file that does not exist yet")

    def handle(self, *, file: Path, **options: Any) -> None:
        """Writes the file.

        Raises:
            CommandError: It cannot be written.
        """
        try:
            written = back_up(Path(os.path.realpath(file)))
        except ConfigurationError as error:
            raise CommandError(error.public) from error
        # One is made before an upgrade too, of a database that has no trail yet.
        if AuditEntry._meta.db_table in connection.introspection.table_names():
            facts = {"bytes": written.bytes, "uploads": written.uploads, "spooled": written.spooled}
            record(Action.BACKED_UP, by=Actor.command(), on=Subject("database"), after=facts)
        self.stdout.write(
            f"{file}: {written.bytes / MEGABYTE:.1f} MB, the database, {written.uploads} uploads, "
            f"{written.spooled} spooled answers."
        )
