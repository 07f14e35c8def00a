"""`manage.py serve`: the production server."""

from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import CommandError

from copilot_admin.errors import ConfigurationError
from copilot_admin.management.plain_command import PlainCommand
from copilot_admin.server import serving
from copilot_admin.server.database_faults import check_database
from copilot_admin.server.open_files import check_open_files
from copilot_admin.server.sole_server import sole_server


class Command(PlainCommand):
    """Serves copilots and admin."""

    help = "Serves the copilots and the admin."
    requires_system_checks = ()  # `manage.py check --deploy` is a step of its own

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares where to listen, and with how many processes."""
        parser.add_argument("--host", default=serving.DEFAULT_HOST)
        parser.add_argument("--port", default=serving.DEFAULT_PORT)
        parser.add_argument("--workers", default=1, help="more than 1 needs PostgreSQL")

    def handle(self, *, host: str, port: str, workers: str, **options: Any) -> None:
        """Serves until it is stopped."""
        try:
            with suppress(KeyboardInterrupt):
                self._serve(host, serving.port_in(port), workers=serving.workers_in(workers))
        except ConfigurationError as error:
            raise CommandError(error.public) from error

    def _serve(self, host: str, port: int, *, workers: int) -> None:
        check_open_files()
        serving.check_components()
        with serving.listen(host, port) as listener, sole_server():
            check_database()
            serving.serve(listener, workers=workers)
