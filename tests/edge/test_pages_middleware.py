"""Pages have Django's middleware; requests of machines pass it by without leaving the event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import SyncToAsync
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client, RequestFactory
from django.utils.module_loading import import_string
import pytest

from copilot_admin.edge.pages_middleware import PageCsrf, exact_host, is_for_machines

MACHINE_PATHS = [
    "/v1/copilots/a/query",
    "/v2/components",
    "/agents.json",
    "/copilots.json",
    "/healthz",
    "/readyz",
]


@pytest.fixture
def hops(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions that were handed to a thread."""
    names: list[str] = []
    call = SyncToAsync.__call__

    async def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        names.append(getattr(self.func, "__qualname__", repr(self.func)))
        return await call(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", counted)
    return names


def _chain(view: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> Any:
    """The middleware of the settings around a view, as Django's ASGI handler stacks it."""
    handler: Any = view
    for path in reversed(settings.MIDDLEWARE):
        handler = import_string(path)(handler)
    return handler


async def _view(request: HttpRequest) -> HttpResponse:
    return HttpResponse("answer")


@pytest.mark.parametrize("path", MACHINE_PATHS)
def test_a_request_of_a_machine_meets_no_synchronous_middleware(path, hops):
    assert is_for_machines(path)
    response = asyncio.run(_chain(_view)(RequestFactory().post(path)))
    assert (response.content, hops) == (b"answer", [])


def test_the_view_middleware_of_a_machine_stays_in_the_event_loop(hops):
    handler = ASGIHandler()

    async def check() -> list[object]:
        request = RequestFactory().post("/v1/copilots/a/query")
        return [await check(request, _view, (), {}) for check in vars(handler)["_view_middleware"]]

    assert (asyncio.run(check()), hops) == ([None], [])


def test_the_settings_use_no_middleware_that_cannot_be_asynchronous():
    for path in settings.MIDDLEWARE:
        assert import_string(path).async_capable, path


@pytest.mark.django_db
def test_a_page_has_its_session_its_user_and_its_csrf_token(client: Client):
    response = client.get("/admin/login/")
    assert response.status_code == 200
    assert "csrftoken" in response.cookies
    assert response.wsgi_request.user.is_anonymous


@pytest.mark.parametrize("is_async", [True, False])
def test_a_page_refuses_a_post_without_its_token(is_async):
    request = RequestFactory().post("/admin/login/")

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("changed something")

    if is_async:
        middleware = PageCsrf(_view)
        check: Any = middleware.process_view
        response = asyncio.run(check(request, view, (), {}))
    else:
        response = PageCsrf(view).process_view(request, view, (), {})
    assert response.status_code == 403


def test_a_machine_needs_no_token_in_either_mode():
    request = RequestFactory().post("/v1/copilots/a/query")

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("answer")

    assert PageCsrf(view)(request).content == b"answer"  # type: ignore[union-attr]  # no awaitable here


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize(
    ("path", "status"), [("/agents.json", 400), ("/healthz", 200), ("/admin/", 200)]
)
def test_the_api_answers_for_its_hosts_only(mode, path, status):
    request = RequestFactory().get(path, headers={"host": "rebound.example.com"})

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("answer")

    response = (
        asyncio.run(exact_host(_view)(request)) if mode == "async" else exact_host(view)(request)
    )
    assert response.status_code == status
    if status == 400:
        assert b'"code": "unknown-host"' in response.content


@pytest.mark.django_db
def test_pages_refuse_another_host(async_client: AsyncClient, client: Client):
    response = client.get("/admin/login/", headers={"host": "rebound.example.com"})
    assert response.status_code == 400
