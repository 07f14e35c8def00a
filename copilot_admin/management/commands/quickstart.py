"""`manage.py quickstart`: from nothing to a running server."""

from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django import db
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from copilot_admin.config.statement_limits import without_statement_timeout
from copilot_admin.errors import ConfigurationError
from copilot_admin.management.plain_command import PlainCommand
from copilot_admin.server import serving
from copilot_admin.server.database_faults import sentence_of
from copilot_admin.server.first_start import FirstLogin, first_start
from copilot_admin.server.open_files import check_open_files
from copilot_admin.server.sole_server import sole_server


class Command(PlainCommand):
    """Prepares the database, makes the first admin and sample copilots, serves."""

    help = "Prepares everything and serves. A second run changes nothing and serves."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares where to listen, and whether to."""
        parser.add_argument("--host", default=serving.DEFAULT_HOST)
        parser.add_argument("--port", default=serving.DEFAULT_PORT)
        parser.add_argument("--no-serve", action="store_true", help="prepare only")

    def handle(self, *, host: str, port: str, no_serve: bool, **options: Any) -> None:
        """Takes the port first: where it is taken, nothing is changed and nothing printed."""
        serving.keep_files_private()
        try:
            check_open_files()
            serving.check_components()
            if no_serve:
                self._prepare()
            else:
                self._serve(host, serving.port_in(port))
        except ConfigurationError as error:
            raise CommandError(error.public) from error

    def _serve(self, host: str, port: int) -> None:
        with (
            serving.listen(host, port) as listener,
            sole_server(),
            suppress(KeyboardInterrupt),
        ):
            self._prepare()
            self._tell_addresses(host, listener.getsockname()[1])
            serving.serve(listener)

    def _prepare(self) -> None:
        try:
            with without_statement_timeout():
                call_command("migrate", interactive=False, verbosity=0)
            login = first_start(settings.VAR_DIR / "first-login.txt")
        except db.Error as error:
            raise ConfigurationError(sentence_of(error)) from error
        if login is not None:
            self._tell_login(login)

    def _tell_login(self, login: FirstLogin) -> None:
        self.stdout.write(f"First admin: {login.username}")
        self.stdout.write(f"Password:    {login.password}")
        self.stdout.write(f"(kept in {login.file}; change it after the first log-in)")

    def _tell_addresses(self, host: str, port: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        base = settings.PUBLIC_URL or f"http://{shown}:{port}"
        self.stdout.write(f"Admin:       {base}/admin/")
        self.stdout.write(f"Workspace:   {base} (add this address as an agent)")
        self.stdout.flush()
