"""The answers that the edge gives itself: JSON for programs, a page for people."""

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import get_language_from_request, gettext, override

from copilot_admin.errors import CompressedBody, RequestError
from copilot_admin.http.asgi_types import (
    Headers,
    Scope,
    Send,
    header,
    is_api,
    rows_of,
    send_answer,
    send_error,
    when_again,
)
from copilot_admin.telemetry.refused_requests import note_refusal

PAGE_KIND = (b"content-type", b"text/html; charset=utf-8")


async def send_refusal(
    scope: Scope, send: Send, error: RequestError, *, headers: Headers | None = None
) -> None:
    """Answers a request with an error, in the shape that its sender can read."""
    note_refusal(error)
    rows: Headers = [*(headers or [])]
    if isinstance(error, CompressedBody):
        rows.append((b"accept-encoding", b"identity"))  # RFC 9110, 15.5.16
    if not is_for_people(scope):
        await send_error(scope, send, error, headers=rows)
        return
    rows = [PAGE_KIND, *rows, *rows_of(when_again(error))]
    await send_answer(send, page_of(scope, error), status=error.status, headers=rows)


def is_for_people(scope: Scope) -> bool:
    """Whether an error is told with a page; of a request its path and its headers are looked at."""
    return not is_api(scope["path"]) and b"text/html" in (header(scope, b"accept") or b"")


def page_of(scope: Scope, error: RequestError) -> bytes:
    """The page that tells an error, in its reader's language."""
    with override(_language_of(scope)):
        words = gettext(error.template)
        about = {"error": error, "words": words % error.params if error.params else words}
        return render_to_string("refused.html", about).encode()


def _language_of(scope: Scope) -> str:
    """The reader's language, as Django's middleware would find it, which is not asked here."""
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = (header(scope, b"accept-language") or b"").decode(
        "latin-1"
    )
    return get_language_from_request(request)
