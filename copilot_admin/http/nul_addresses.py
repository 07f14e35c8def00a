"""Refuses addresses with a character of no text, which no row has and PostgreSQL takes for a fault."""

from django.utils.translation import gettext_noop

from copilot_admin.errors import MalformedBody
from copilot_admin.http.asgi_types import App, Receive, Scope, Send
from copilot_admin.http.lingering import Incoming, refuse

_NUL = gettext_noop("The address has a NUL character (%00) in it. Leave it out.")


class WithoutNulAddresses:
    """ASGI middleware; WebSockets have an address of their own, which such a one is not."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or not _has_nul(scope):
            await self.app(scope, receive, send)
            return
        error = MalformedBody(_NUL, code="malformed-request")
        await refuse(scope, Incoming(receive), send, error)


def _has_nul(scope: Scope) -> bool:
    query: bytes = scope.get("query_string", b"")
    return "\0" in scope["path"] or b"%00" in query or b"\0" in query
