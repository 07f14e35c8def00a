"""A request for which the system has no thread is told to come again.

Django answers each page in a thread, and says in another one what went wrong there: where it gets none
(`ulimit -u`, the most processes of a container or unit), nobody is left to answer.
"""

from io import BytesIO
import logging

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse

from copilot_admin.exhaustion import exhausted
from copilot_admin.http.asgi_types import App, Message, Receive, Scope, Send
from copilot_admin.http.error_pages import RETRY_AFTER_SECONDS, server_error

_BARE_PAGE = (  # what it is drawn and translated with are files as well
    '<!doctype html><html lang="en"><title>Not available</title>'
    "<p>The server is busy. Load the page again in a few seconds.</p>"
)
logger = logging.getLogger(__name__)


class OutOfThreads:
    """Answers for an application that cannot.

    Args:
        app: Django.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands a request on; an answer that has begun ends as it would."""
        began = ended = False

        async def noted(message: Message) -> None:
            nonlocal began, ended
            began = True
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except (RuntimeError, OSError) as error:
            if not exhausted(error) or (began and not ended):
                raise
            if began:  # all of it was sent; what was to be put away goes by itself
                logger.warning("nothing was put away after an answer: %s", error)
                return
            await _tell(scope, send)


async def _tell(scope: Scope, send: Send) -> None:
    """Says that it will pass; call it while that is handled."""
    response = _response(scope)
    response.headers.setdefault("Content-Length", str(len(response.content)))
    headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})


def _response(scope: Scope) -> HttpResponse:
    try:
        return server_error(ASGIRequest(scope, BytesIO()))
    except OSError as error:  # the page itself may be in files that nobody has read yet
        if not exhausted(error):
            raise
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS), "Cache-Control": "no-store"}
    return HttpResponse(_BARE_PAGE, status=503, headers=headers)
