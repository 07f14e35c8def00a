"""`/metrics`: the figures, for Prometheus alone. Outside Django and its log-ins."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from copilot_admin.config.figure_readers import FigureReaders
from copilot_admin.errors import (
    Forbidden,
    MethodNotAllowed,
    RequestError,
    TooManyFailedAttempts,
    Unauthorized,
)
from copilot_admin.http.asgi_types import (
    App,
    Receive,
    Scope,
    Send,
    header,
    send_answer,
    send_error,
)
from copilot_admin.http.guesses import GUESSES

PATH = "/metrics"


class Exposition(Protocol):
    """Whatever can say the figures of all processes."""

    def text(self, accept: str) -> tuple[bytes, str]:
        """All of them, in the form that somebody takes, and its content type."""
        ...


class MetricsPage:
    """ASGI middleware that answers `/metrics` to its readers, and hands everything else on.

    Args:
        app: Gets every other request.
        figures: That are shown.
        readers: Who may read them.
        refresh: Brings the figures up to date that are read every few seconds; called in a thread.
    """

    def __init__(
        self, app: App, *, figures: Exposition, readers: FigureReaders, refresh: Callable[[], None]
    ) -> None:
        self.app = app
        self.figures = figures
        self.readers = readers
        self.refresh = refresh

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or scope["path"] != PATH:
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            rows = [(b"www-authenticate", b"Bearer")] if refusal.status == 401 else []
            await send_error(scope, send, refusal, headers=rows)
            return
        accept = (header(scope, b"accept") or b"").decode("latin-1")
        text, content_type = await asyncio.to_thread(self._text, accept)
        rows = [(b"content-type", content_type.encode())]
        await send_answer(send, text, status=200, headers=rows)

    def _text(self, accept: str) -> tuple[bytes, str]:
        self.refresh()
        return self.figures.text(accept)

    def _refusal(self, scope: Scope) -> RequestError | None:
        client = scope.get("client") or ("", 0)
        address = str(client[0])
        if not self.readers.come_from(address):
            return Forbidden("Figures are not shown at this address.")
        authorization = (header(scope, b"authorization") or b"").decode("latin-1")
        if not self.readers.know(authorization):
            seconds = GUESSES.count(address) if authorization else 0
            if seconds:
                sentence = "Too many wrong tokens came from this address. Wait a minute."
                return TooManyFailedAttempts(sentence, retry_after=seconds)
            return Unauthorized("Send the token of the figures as 'Authorization: Bearer TOKEN'.")
        if scope["method"] not in ("GET", "HEAD"):
            return MethodNotAllowed("Figures are only read. Send GET.", allowed="GET, HEAD")
        return None
