"""`manage.py sendtestemail ADDRESS`: as Django's; what is wrong with the mail server is said in a line."""

from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import sendtestemail


class Command(sendtestemail.Command):
    """Sends a mail, so that an operator sees whether he set `EMAIL_...` right."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Sends it, and says by which server.

        Raises:
            CommandError: There is no server, or it takes no mail.
        """
        if not settings.MAIL.is_there:
            raise CommandError("No mail is sent from here. Set EMAIL_HOST and EMAIL_FROM.")
        server = f"{settings.MAIL.host} port {settings.MAIL.port}"
        try:
            super().handle(*args, **options)
        except OSError as error:
            raise CommandError(f"{server} takes no mail: {_reason(error)}.") from error
        self.stdout.write(f"Sent by {server}.")


def _reason(error: OSError) -> str:
    """What broke; of a server no words, which may be anything."""
    if not isinstance(error, SMTPException):
        return error.strerror or type(error).__name__
    return f"{type(error).__name__} {getattr(error, 'smtp_code', '')}".strip()
