"""The mark that sessions of the firm's accounts carry; it lets nobody in by itself."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

PATH = "copilot_admin.admin.logins.backend.FirmBackend"


class FirmBackend(ModelBackend):
    """Reads users and rights as Django does; names and passwords mean nothing to it."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Nobody: the view that a log-in ends at has found out who it is."""
        return None
