"""Pages have Django's middleware; requests of machines pass it by without leaving the event loop."""

import asyncio
from collections.abc import Awaitable, Callable
import json
import sqlite3
from typing import Any

from asgiref.sync import SyncToAsync
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.asgi import ASGIHandler
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
)
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client, RequestFactory
from django.utils.module_loading import import_string
import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.http.pages_middleware import (
    PageCsrf,
    PageOutages,
    PageSecurity,
    PageSessions,
    exact_host,
    is_for_machines,
)
from copilot_admin.models import Copilot

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


def _broken_constraint(code: int | str) -> IntegrityError:
    """What Django raises of a constraint, with the driver's error that it came from."""
    error = IntegrityError("a constraint failed")
    name = "sqlite_errorcode" if isinstance(code, int) else "sqlstate"
    error.__cause__ = Exception()
    setattr(error.__cause__, name, code)
    return error


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
        assert json.loads(response.content) == {
            "detail": "This server does not answer for this host. Add it to ALLOWED_HOSTS.",
            "code": "unknown-host",
        }
        assert response["Cache-Control"] == "no-store"


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_the_api_answers_for_its_own_hosts(mode):
    request = RequestFactory().get("/agents.json", headers={"host": "localhost"})

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse("answer")

    response = (
        asyncio.run(exact_host(_view)(request)) if mode == "async" else exact_host(view)(request)
    )
    assert response.content == b"answer"


class TestOutages:
    """A database that is away, whatever part of Django needed it."""

    @pytest.fixture(params=[OperationalError("no host"), InterfaceError("no host")])
    def away(self, request: Any) -> Exception:
        error: Exception = request.param
        return error

    def is_page(self, response: Any, error: Exception, caplog: pytest.LogCaptureFixture) -> bool:
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert response["Cache-Control"] == "no-store"
        waits = isinstance(error, Unavailable)
        said = f"a page could not be shown: {type(error).__name__}"
        told = [(line.levelname, line.getMessage()) for line in caplog.records]
        assert told == [("WARNING", f"a page was put off: {error}") if waits else ("ERROR", said)]
        return "Not available now" in response.content.decode()

    def test_a_view_that_needed_it_becomes_a_page(self, away, caplog):
        made = PageOutages(_view).process_exception(RequestFactory().get("/admin/"), away)
        assert self.is_page(made, away, caplog)

    def test_whose_turn_it_is_stands_in_the_log_behind_the_sentence(self, caplog):
        error = Unavailable("Too many at once.")
        error.add_note("a log-in of 192.0.2.7")
        PageOutages(_view).process_exception(RequestFactory().get("/admin/"), error)
        (line,) = caplog.records
        assert line.getMessage() == "a page was put off: Too many at once.; a log-in of 192.0.2.7"

    def test_a_view_that_takes_no_more_at_the_moment_becomes_one_too(self, caplog):
        """Left to Django it would be the same page, and a traceback for each of a flood of log-ins."""
        error = Unavailable("Too many people log in at once.")
        made = PageOutages(_view).process_exception(RequestFactory().post("/admin/login/"), error)
        assert self.is_page(made, error, caplog)

    @pytest.mark.parametrize(
        ("accepted", "shown"), [("text/html", "which no text has"), ("", '"malformed-request"')]
    )
    def test_a_form_with_a_nul_is_refused_in_words(self, accepted, shown):
        error = DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        form = {"side": "draft", "text": ["fine", "a\0b"]}
        request = RequestFactory().post("/admin/x/", form, headers={"Accept": accepted})
        made = PageOutages(_view).process_exception(request, error)
        assert made.status_code == 400
        assert shown in made.content.decode()

    @pytest.mark.parametrize(
        ("error", "status", "words"),
        [
            (Copilot.DoesNotExist(), 404, "was deleted meanwhile"),
            (DatabaseError("Save with update_fields did not affect any rows."), 404, "to copy"),
            (_broken_constraint(sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY), 404, "was deleted"),
            (_broken_constraint(sqlite3.SQLITE_CONSTRAINT_UNIQUE), 409, "saved the same"),
            (_broken_constraint("23503"), 404, "was deleted meanwhile"),
            (_broken_constraint("23505"), 409, "send it again"),
        ],
    )
    def test_a_form_that_somebody_else_was_quicker_than_is_refused_in_words(
        self, error, status, words, caplog
    ):
        request = RequestFactory().post("/admin/x/", headers={"Accept": "text/html"})
        made = PageOutages(_view).process_exception(request, error)
        assert (made.status_code, words in made.content.decode()) == (status, True)
        said = [(line.levelname, line.exc_info) for line in caplog.records]
        assert said == [("WARNING", None)]

    def test_a_page_of_what_is_gone_is_that_of_an_address_with_nothing(self, caplog):
        request = RequestFactory().get("/admin/x/", headers={"Accept": "text/html"})
        made = PageOutages(_view).process_exception(request, Copilot.DoesNotExist())
        assert (made.status_code, b"There is nothing here" in made.content) == (404, True)

    @pytest.mark.parametrize(
        ("path", "error"),
        [
            ("/admin/", _broken_constraint(sqlite3.SQLITE_CONSTRAINT_CHECK)),
            ("/agents.json", Copilot.DoesNotExist()),
            ("/admin/", ValueError("a bug")),
            ("/admin/", DataError("a value of ours does not fit")),
            ("/agents.json", OperationalError("no host")),
            ("/agents.json", Unavailable("busy")),
        ],
    )
    def test_faults_and_machines_have_answers_of_their_own(self, path, error):
        request = RequestFactory().get(path)
        assert PageOutages(_view).process_exception(request, error) is None

    def test_middleware_that_needed_it_becomes_a_page_in_either_mode(self, away, caplog):
        def broken(request: HttpRequest) -> HttpResponse:
            raise away

        async def broken_async(request: HttpRequest) -> HttpResponse:
            raise away

        request = RequestFactory().get("/admin/")
        assert self.is_page(PageSecurity(broken)(request), away, caplog)
        caplog.clear()
        made: Any = PageSecurity(broken_async)(request)
        assert self.is_page(asyncio.run(made), away, caplog)

    @pytest.mark.parametrize("is_async", [True, False])
    def test_a_mistake_of_ours_in_middleware_is_not_hidden(self, is_async):
        def broken(request: HttpRequest) -> HttpResponse:
            raise ProgrammingError("no such column")

        async def broken_async(request: HttpRequest) -> HttpResponse:
            return broken(request)

        page: Any = PageSecurity(broken_async if is_async else broken)
        with pytest.raises(ProgrammingError, match="no such column"):
            asyncio.run(page(RequestFactory().get("/admin/")))

    def test_what_machines_meet_is_handed_on(self, away):
        def broken(request: HttpRequest) -> HttpResponse:
            raise away

        with pytest.raises(type(away)):
            PageSecurity(broken)(RequestFactory().get("/agents.json"))


@pytest.mark.django_db
def test_pages_refuse_another_host(async_client: AsyncClient, client: Client):
    response = client.get("/admin/login/", headers={"host": "rebound.example.com"})
    assert response.status_code == 400


@pytest.mark.parametrize(("status", "kept"), [(200, True), (503, False)])
def test_a_page_that_is_not_available_keeps_nothing_in_the_session(status, kept, monkeypatch):
    saved: list[object] = []
    monkeypatch.setattr(SessionStore, "save", lambda session: saved.append(session))

    def view(request: HttpRequest) -> HttpResponse:
        request.session["name"] = "value"
        return HttpResponse(status=status)

    PageSessions(view)(RequestFactory().get("/admin/"))
    assert bool(saved) is kept
