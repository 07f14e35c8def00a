"""The answers that the edge gives itself: JSON for programs, a page for people."""

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import get_language_from_request, override

from copilot_admin.edge.asgi_types import (
    Headers,
    Scope,
    Send,
    header,
    is_api,
    send_answer,
    send_error,
)
from copilot_admin.errors import CompressedBody, RequestError, Unavailable
from copilot_admin.telemetry.refused_requests import note_refusal


async def send_refusal(
    scope: Scope, send: Send, error: RequestError, *, headers: Headers | None = None
) -> None:
    """Answers a request with an error, in the shape that its sender can read."""
    note_refusal(error)
    rows: Headers = [*(headers or [])]
    if isinstance(error, Unavailable):
        rows.append((b"retry-after", str(error.retry_after).encode()))
    elif isinstance(error, CompressedBody):
        rows.append((b"accept-encoding", b"identity"))  # RFC 9110, 15.5.16
    if is_api(scope["path"]) or b"text/html" not in (header(scope, b"accept") or b""):
        await send_error(scope, send, error, headers=rows)
        return
    with override(_language_of(scope)):
        page = render_to_string("refused.html", {"error": error}).encode()
    kind = (b"content-type", b"text/html; charset=utf-8")
    await send_answer(send, page, status=error.status, headers=[kind, *rows])


def _language_of(scope: Scope) -> str:
    """The reader's language, as Django's middleware would find it, which is not asked here."""
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = (header(scope, b"accept-language") or b"").decode(
        "latin-1"
    )
    return get_language_from_request(request)
