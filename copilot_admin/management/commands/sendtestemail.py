"""`manage.py sendtestemail`: Django's command, which says if no mail server is set."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import sendtestemail


class Command(sendtestemail.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMAIL_HOST:
            raise CommandError("There is no mail server. Set EMAIL_HOST and EMAIL_FROM.")
        super().handle(*args, **options)
