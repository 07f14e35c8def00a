"""`manage.py worker`: does what takes long, for servers that leave it to the database."""

from argparse import ArgumentParser
import logging
import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection, connections
from django_tasks_db.management.commands import db_worker

from copilot_admin.storage.errors import OUTAGES

DATABASE_TASKS = "database"  # of COPILOT_TASKS
RETRY_SECONDS = 5

logger = logging.getLogger(__name__)


class Command(db_worker.Command):
    """Do the tasks that wait in the database."""

    help = "Does the background tasks that wait in the database, until a signal stops it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare those of `db_worker`, unless its checks would refuse them in words of Django's."""
        if settings.BACKGROUND == DATABASE_TASKS:
            super().add_arguments(parser)

    def handle(self, **options: Any) -> None:
        """Do tasks until it is stopped; while the database is away it waits, as servers do.

        Raises:
            CommandError: The servers do their tasks themselves.
            django.db.Error: The database is away at the start, or with `--batch`.
        """
        if settings.BACKGROUND != DATABASE_TASKS:
            raise CommandError(
                "Each server does its own background tasks. Set COPILOT_TASKS=database here and for "
                "the servers to leave them to workers."
            )
        connection.ensure_connection()  # a database that is away at the start is told at once
        while True:
            try:
                super().handle(**options)
            except OUTAGES as error:
                if options["batch"]:
                    raise
                logger.warning(
                    "The database is away (%s): tried again in %d s.",
                    type(error).__name__,
                    RETRY_SECONDS,
                )
                connections.close_all()
                time.sleep(RETRY_SECONDS)
            else:
                return
