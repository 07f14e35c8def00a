"""Whoever changed something is known for a while, in whatever process his next page is read."""

import asyncio
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
import pytest

from copilot_admin.http.fresh_pages import COOKIE, fresh_after_writes, reads_primary


async def _view_async(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _view(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def marks(method: str, path: str, *, is_async: bool) -> dict[str, dict[str, Any]]:
    """The cookies of an answer, each with what it says."""
    request = RequestFactory().generic(method, path)
    if is_async:
        answer = asyncio.run(fresh_after_writes(_view_async)(request))
    else:
        answer = fresh_after_writes(_view)(request)
    return {
        name: {"value": one.value, **{key: said for key, said in one.items() if said}}
        for name, one in answer.cookies.items()
    }


@pytest.mark.parametrize("is_async", [True, False])
def test_whoever_changes_something_is_marked_for_fifteen_seconds(settings, is_async):
    settings.SESSION_COOKIE_SECURE = True
    mark = marks("POST", "/admin/", is_async=is_async)[COOKIE]
    assert mark.pop("expires")
    assert mark == {
        "value": "1", "max-age": 15, "path": "/",
        "secure": True, "httponly": True, "samesite": "Lax",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/admin/"), ("HEAD", "/admin/"), ("OPTIONS", "/admin/"), ("POST", "/v1/feedback")],
)
def test_who_reads_and_what_machines_send_gets_no_mark(method, path):
    assert marks(method, path, is_async=False) == {}


@pytest.mark.parametrize(
    ("method", "cookies", "is_fresh"),
    [("GET", {}, False), ("POST", {}, True), ("GET", {COOKIE: "1"}, True)],
)
def test_who_changes_something_or_is_marked_reads_the_primary(method, cookies, is_fresh):
    request = RequestFactory().generic(method, "/admin/")
    request.COOKIES.update(cookies)
    assert reads_primary(request) is is_fresh
