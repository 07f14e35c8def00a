"""Files that somebody sent and has not yet said yes to."""

import secrets
from typing import Any

from django.conf import settings
from django.db import models

from copilot_admin.models.fields import OrderedJsonField
from copilot_admin.models.stored_row import StoredRow


def new_token() -> str:
    """What nobody guesses, for the address of a page."""
    return secrets.token_urlsafe(16)


class PendingImport(StoredRow):
    """Copilot files that were read and checked, while the person who sent them looks at what they do.

    One for a person: who sends others wants those. What nobody says yes to goes after a day.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    files: "models.Field[Any, Any]" = OrderedJsonField(shape=list)  # [{"name": ..., "values": ...}]
    sent_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()  # nobody looks at it but who sent it

    def __str__(self) -> str:
        return f"files of {self.user}"
