"""`manage.py worker`: does what takes long, for servers that leave it to the database."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django_tasks_db.management.commands import db_worker

DATABASE_TASKS = "database"  # of COPILOT_TASKS


class Command(db_worker.Command):
    """Does the tasks that wait in the database."""

    help = "Does the background tasks that wait in the database, until a signal stops it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares those of `db_worker`, unless its checks would refuse them in words of Django's."""
        if settings.BACKGROUND == DATABASE_TASKS:
            super().add_arguments(parser)

    def handle(self, **options: Any) -> None:
        """Does tasks until it is stopped.

        Raises:
            CommandError: The servers do their tasks themselves.
        """
        if settings.BACKGROUND != DATABASE_TASKS:
            raise CommandError(
                "Each server does its own background tasks. Set COPILOT_TASKS=database here and for "
                "the servers to leave them to workers."
            )
        super().handle(**options)
