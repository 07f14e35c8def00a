"""Remove the second factors of a user who has lost them."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from copilot_admin.accounts.second_factor import reset_second_factor
from copilot_admin.management.base import SanitizedCommand


class Command(SanitizedCommand):
    help = "Remove the second factors of a user who has lost them, and end their sessions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *_args: Any, username: str, **_options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username!r}.")
        reset_second_factor(user)
        self.stdout.write("Two-factor authentication was reset.")
