"""`manage.py worker`: run background tasks that servers leave to the database."""

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
    help = "Run the background tasks in the database until a signal stops it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        if settings.BACKGROUND == DATABASE_TASKS:
            super().add_arguments(parser)

    def handle(self, **options: Any) -> None:
        if settings.BACKGROUND != DATABASE_TASKS:
            raise CommandError(
                "Each server does its own background tasks. Set COPILOT_TASKS=database here and for "
                "the servers to leave them to workers."
            )
        connection.ensure_connection()  # fail at once if the database is unavailable at the start
        while True:
            try:
                super().handle(**options)
            except OUTAGES as error:
                if options["batch"]:
                    raise
                name = type(error).__name__
                logger.warning("Database unavailable (%s), retry in %d s.", name, RETRY_SECONDS)
                connections.close_all()
                time.sleep(RETRY_SECONDS)
            else:
                return
