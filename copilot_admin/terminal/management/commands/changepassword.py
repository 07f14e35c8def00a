"""`manage.py changepassword NAME`: as Django's, and told in the audit trail."""

from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.core.management.base import CommandError

from copilot_admin.models import Action
from copilot_admin.terminal.told_saves import told_saves


class Command(changepassword.Command):
    """Gives an account another password."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        """Asks as Django does; password and entry are there together or not at all.

        Raises:
            CommandError: There is no such account, or nobody gives it a password.
        """
        try:
            with told_saves(Action.PASSWORD_CHANGED):
                said: str | None = super().handle(*args, **options)
        except EOFError:
            raise CommandError(
                "No password came. Use a terminal, or give it in two lines of the standard input."
            ) from None
        return said
