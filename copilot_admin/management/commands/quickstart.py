"""`manage.py quickstart`: prepare the database and serve."""

from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django import db
from django.conf import settings
from django.core.management import call_command

from copilot_admin.config.databases import without_statement_timeout
from copilot_admin.copilots.checks import COMPONENTS
from copilot_admin.errors import ConfigurationError
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.server import serve
from copilot_admin.server.database_check import describe_database_error, instance_lock
from copilot_admin.server.first_start import LocalServer, find_local_servers, prepare_first_start


class Command(SanitizedCommand):
    help = "Create the database, the first admin and sample copilots if needed, and serve."
    requires_system_checks = (COMPONENTS,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=serve.DEFAULT_HOST)
        parser.add_argument("--port", type=int, default=serve.DEFAULT_PORT)
        parser.add_argument("--no-serve", action="store_true", help="prepare only")

    def handle(self, *, host: str, port: int, no_serve: bool, **options: Any) -> None:
        if no_serve:
            self._prepare()
            return
        # The port first: if it is taken, nothing is changed or printed.
        with serve.listen(host, port) as listener, instance_lock(), suppress(KeyboardInterrupt):
            self._prepare()
            self._print_urls(host, listener.getsockname()[1])
            serve.serve(listener)

    def _prepare(self) -> None:
        try:
            with without_statement_timeout():
                call_command("migrate", interactive=False, verbosity=0)
            login = prepare_first_start()
        except db.Error as error:
            raise ConfigurationError(describe_database_error(error)) from error
        if login is not None:
            self.stdout.write(
                f"First admin: {login.username}\nPassword:    {login.password}\n"
                f"(stored in {login.file}; change it after the first sign-in)"
            )
            for server in login.local_servers:
                self.stdout.write(f"Found {_describe(server)}: added as a provider.")
        elif not settings.PRODUCTION:
            for server in find_local_servers():
                text = "Add it in the admin under Settings, Models and pricing."
                self.stdout.write(f"Found {_describe(server)}. {text}")

    def _print_urls(self, host: str, port: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        base = settings.PUBLIC_URL or f"http://{shown}:{port}"
        self.stdout.write(f"Admin:       {base}/admin/")
        self.stdout.write(f"Workspace:   {base} (add this URL as an agent)")
        self.stdout.flush()


def _describe(server: LocalServer) -> str:
    models = "1 model" if server.models == 1 else f"{server.models} models"
    return f"{server.name} at {server.base_url} with {models}"
