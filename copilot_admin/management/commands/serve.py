"""`manage.py serve`: the production server."""

from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from copilot_admin.errors import ConfigurationError
from copilot_admin.server import serving


class Command(BaseCommand):
    """Serves copilots and admin."""

    help = "Serves the copilots and the admin."
    requires_system_checks = ()  # `manage.py check --deploy` is a step of its own

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares where to listen, and with how many processes."""
        parser.add_argument("--host", default=serving.DEFAULT_HOST)
        parser.add_argument("--port", type=int, default=serving.DEFAULT_PORT)
        parser.add_argument("--workers", type=int, default=1, help="more than 1 needs PostgreSQL")

    def handle(self, *, host: str, port: int, workers: int, **options: Any) -> None:
        """Serves until it is stopped."""
        try:
            serving.check_workers(workers)
            serving.check_components()
            listener = serving.listen(host, port)
        except ConfigurationError as error:
            raise CommandError(error.public) from error
        with listener, suppress(KeyboardInterrupt):
            serving.serve(listener, workers=workers)
