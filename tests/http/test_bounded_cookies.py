"""Cookies that would take long to read do not reach who reads them."""

from typing import Any

from django.http.cookie import parse_cookie
import pytest

from copilot_admin import asgi
from copilot_admin.http.bounded_cookies import MOST_BYTES, BoundedCookies
from tests.http.asgi_client import call, scope
from tests.http.test_edge import QUERY, echo

PAGE = "/admin/login/"
ESCAPED = b'messages="\\054a\\"b"'
LONG = b'x="' + b"\\" * MOST_BYTES + b'"'


def seen(request: dict[str, Any]) -> list[bytes]:
    """The cookie headers that reach whoever reads them."""
    rows: list[bytes] = []

    async def noted(request: Any, receive: Any, send: Any) -> None:
        rows.extend(value for name, value in request["headers"] if name == b"cookie")
        await echo(request, receive, send)

    call(BoundedCookies(noted), request)
    return rows


def request_of(*cookies: bytes, path: str = PAGE, **more: Any) -> dict[str, Any]:
    rows = [(b"host", b"localhost"), *((b"cookie", one) for one in cookies)]
    return {**scope(path), "headers": rows, **more}


@pytest.mark.parametrize(
    "cookie", [b"", b"sessionid=a", b"a=" + b"x" * 60_000, ESCAPED, b"; ".join([ESCAPED] * 200)]
)
def test_usual_cookies_stay_as_they_are(cookie):
    assert seen(request_of(cookie)) == [cookie]


def test_one_that_browsers_would_not_keep_is_left_out_if_it_has_backslashes():
    [kept] = seen(request_of(b"; ".join([b"sessionid=a", LONG, ESCAPED, b"csrftoken=b"])))
    assert parse_cookie(kept.decode()) == {
        "sessionid": "a",
        "messages": ',a"b',
        "csrftoken": "b",
    }


def test_of_very_many_with_backslashes_the_first_are_read():
    one = b'a="' + b"\\" * 3000 + b'"'
    assert seen(request_of(b";".join([one] * 5), one + b";b=1")) == [b";".join([one] * 2), b"b=1"]


def test_sockets_are_bounded_as_pages_are_and_the_api_reads_none():
    assert seen(request_of(LONG, type="websocket")) == [b""]
    assert seen(request_of(LONG, path=QUERY)) == [LONG]


def test_the_server_bounds_them_before_a_page_reads_one(monkeypatch):
    read: list[str] = []

    async def page(request: Any, receive: Any, send: Any) -> None:
        read.extend(value.decode() for name, value in request["headers"] if name == b"cookie")
        await echo(request, receive, send)

    monkeypatch.setattr(asgi, "django_application", page)
    call(asgi._build(), request_of(LONG, path="/admin/"))
    assert read == [""]
