"""`manage.py createsuperuser`: as Django's, and told in the audit trail."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError

from copilot_admin.models import Action
from copilot_admin.terminal.told_saves import told_saves


class Command(createsuperuser.Command):
    """Makes an account that may do everything."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Asks as Django does; account and entry are there together or not at all.

        Raises:
            CommandError: Nobody can be asked. Django says so and ends as if the account were there.
        """
        if options["interactive"] and not self.stdin.isatty():
            raise CommandError(
                "Nobody can be asked for a password here. Use a terminal, or --no-input with "
                "DJANGO_SUPERUSER_PASSWORD in the environment."
            )
        with told_saves(Action.ADDED):
            super().handle(*args, **options)
