"""`manage.py worker`: run background tasks that servers leave to the database."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django_tasks_db.management.commands import db_worker

DATABASE_TASKS = "database"  # of COPILOT_TASKS


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
        super().handle(**options)  # ended by an outage, it is started again by its supervisor
