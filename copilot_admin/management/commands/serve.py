"""`manage.py serve`: the production server."""

from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from copilot_admin.copilots.checks import COMPONENTS, NAMES
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.server import serve
from copilot_admin.server.database_check import check_database, instance_lock


class Command(SanitizedCommand):
    help = "Serve the copilots and the admin."
    requires_system_checks = (COMPONENTS, NAMES)  # `manage.py check --deploy` runs them all

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=serve.DEFAULT_HOST)
        parser.add_argument("--port", type=int, default=serve.DEFAULT_PORT)
        parser.add_argument("--workers", type=int, default=1, help="more than 1 needs PostgreSQL")

    def handle(self, *, host: str, port: int, workers: int, **options: Any) -> None:
        serve.check_workers(workers)
        with serve.listen(host, port) as listener, instance_lock(), suppress(KeyboardInterrupt):
            check_database()
            serve.serve(listener, workers=workers)
