"""`manage.py quickstart`: from nothing to a running server."""

from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from copilot_admin.errors import ConfigurationError
from copilot_admin.server import serving
from copilot_admin.server.first_start import FirstLogin, first_start


class Command(BaseCommand):
    """Prepares the database, makes the first admin and sample copilots, serves."""

    help = "Prepares everything and serves. A second run changes nothing and serves."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares where to listen, and whether to."""
        parser.add_argument("--host", default=serving.DEFAULT_HOST)
        parser.add_argument("--port", type=int, default=serving.DEFAULT_PORT)
        parser.add_argument("--no-serve", action="store_true", help="prepare only")

    def handle(self, *, host: str, port: int, no_serve: bool, **options: Any) -> None:
        """Takes the port first: where it is taken, nothing is changed and nothing printed."""
        serving.keep_files_private()
        try:
            serving.check_components()
            listener = None if no_serve else serving.listen(host, port)
            call_command("migrate", interactive=False, verbosity=0)
            login = first_start(settings.VAR_DIR / "first-login.txt")
        except ConfigurationError as error:
            raise CommandError(error.public) from error
        if login is not None:
            self._tell_login(login)
        if listener is None:
            return
        self._tell_addresses(host, listener.getsockname()[1])
        with listener, suppress(KeyboardInterrupt):
            serving.serve(listener)

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
