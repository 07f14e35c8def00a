"""What a client is told whose request never reaches the application: JSON, or a page for people."""

from http import HTTPStatus
import json
from urllib.parse import unquote_to_bytes

from copilot_admin.errors import RequestError
from copilot_admin.http.asgi_types import Headers, Scope, error_body, rows_of, when_again
from copilot_admin.http.refusals import PAGE_KIND, is_for_people, page_of
from copilot_admin.http.security_headers import HEADERS
from copilot_admin.http.stray_slashes import without_stray_slashes

MOST_PATH_BYTES = 1024  # show whether it is one of the API
_JSON_KIND = (b"content-type", b"application/json")


def early_refusal(error: RequestError, *, address: bytes, headers: Headers) -> bytes:
    """The whole answer, after which the connection ends.

    Args:
        error: To be told.
        address: What came of the request's address.
        headers: Those that came, and were kept.
    """
    scope: Scope = {"path": _path_of(address), "headers": headers}
    if is_for_people(scope):
        kind, body = PAGE_KIND, page_of(scope, error)
    else:
        kind, body = _JSON_KIND, json.dumps(error_body(error, request_id=None)).encode()
    length = (b"content-length", str(len(body)).encode())
    rows = [kind, (b"cache-control", b"no-store"), (b"connection", b"close"), length, *HEADERS]
    rows += rows_of(when_again(error))
    start = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n".encode()
    return start + b"".join(b"%b: %b\r\n" % row for row in rows) + b"\r\n" + body


def _path_of(address: bytes) -> str:
    path = address[:MOST_PATH_BYTES].partition(b"?")[0]
    return without_stray_slashes(unquote_to_bytes(path).decode("latin-1"))
