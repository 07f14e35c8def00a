"""Ids, CORS, security headers, checks and metrics of every HTTP request."""

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.http.middleware import (
    CONTENT_SECURITY_POLICY,
    MAX_HEADER_BYTES,
    AllowedOrigins,
    HttpMiddleware,
)
from copilot_admin.http.scope import IDS_KEY, REQUEST_ID_KEY, get_route_name
from tests.http.asgi_client import Answer, call, scope

WORKSPACE = "https://pro.openbb.co"
QUERY = "/v1/copilots/news/query"
SECURITY = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}
STRANGERS = [
    "null",
    "https://pro.openbb.co.evil.test",
    "https://pro.openbb.co/",
    "http://pro.openbb.co",
    "https://xpro.openbb.co",
    "*",
    "",
]


class App:
    """Records the scopes that it gets, and answers with the headers of a test."""

    def __init__(self, *headers: tuple[bytes, bytes]) -> None:
        self.headers = headers
        self.scopes: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [*self.headers]})
        await send({"type": "http.response.body", "body": b"answer"})


class Counter:
    """Records what is counted."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []
        self.started: list[str] = []

    def count(self, name: str, method: str, path: str, status: str) -> None:
        assert name == "http_requests"
        self.requests.append((method, path, status))

    def observe(self, name: str, seconds: float, path: str) -> None:
        assert name == "http_response_start_seconds"
        assert 0 <= seconds < 60
        self.started.append(path)


def ask(
    path: str, *, method: str = "GET", app: Any = None, headers: Any = None, **about: Any
) -> Answer:
    middleware = HttpMiddleware(
        app or App(), origins=AllowedOrigins([WORKSPACE]), extra_headers=["x-firm"]
    )
    return call(middleware, scope(path, method=method, headers=headers, **about))


class TestCors:
    def test_an_allowed_origin_may_read_the_response_and_its_ids(self):
        answer = ask(QUERY, method="POST", headers={"Origin": WORKSPACE})
        assert (answer.status, answer.body) == (200, b"answer")
        assert answer.header("access-control-allow-origin") == WORKSPACE
        exposed = "X-Trace-Id, X-Completion-Id, Retry-After"
        assert answer.header("access-control-expose-headers") == exposed
        assert answer.header("vary") == "Origin"

    @pytest.mark.parametrize(("network", "allowed"), [("true", "true"), ("false", None)])
    def test_a_preflight_of_an_allowed_origin_lists_permissions(self, network, allowed):
        app = App()
        headers = {
            "Origin": WORKSPACE,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Private-Network": network,
        }
        answer = ask(QUERY, method="OPTIONS", headers=headers, app=app)
        assert (answer.status, answer.body, answer.is_whole, app.scopes) == (204, b"", True, [])
        assert answer.header("access-control-allow-origin") == WORKSPACE
        assert answer.header("access-control-allow-methods") == "GET, POST, OPTIONS"
        names = "content-type, x-trace-id, authorization, x-api-key, x-firm"
        assert answer.header("access-control-allow-headers") == names
        assert answer.header("access-control-max-age") == "600"
        assert answer.header("access-control-allow-private-network") == allowed

    @pytest.mark.parametrize("origin", STRANGERS)
    @pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
    def test_every_other_spelling_of_an_origin_gets_no_permission(self, origin, method):
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        answer = ask(QUERY, method=method, headers=headers)
        assert not [name for name, _ in answer.headers if name.startswith("access-control")]
        assert answer.header("vary") == "Origin"


class TestForbiddenOrigins:
    """A page of another site can send a question as `text/plain` without a preflight."""

    PATHS = (QUERY, "/v1/copilots/news/feedback", "/v2/components/calculator")

    @pytest.mark.parametrize("path", PATHS)
    @pytest.mark.parametrize("origin", STRANGERS)
    def test_a_post_of_another_origin_is_rejected(self, path, origin):
        app = App()
        headers = {"Origin": origin, "Content-Type": "text/plain"}
        answer = ask(path, method="POST", headers=headers, app=app)
        error = json.loads(answer.body)
        assert (answer.status, error["code"], app.scopes) == (403, "forbidden-origin", [])
        assert "CORS_ORIGINS" in error.get("detail", error.get("message"))

    @pytest.mark.parametrize("path", PATHS)
    @pytest.mark.parametrize(
        "headers",
        [{}, {"Origin": WORKSPACE}, {"Origin": "http://localhost:7777", "Host": "localhost:7777"}],
    )
    def test_allowed_origins_this_server_and_programs_pass(self, settings, path, headers):
        settings.ALLOWED_HOSTS = ["localhost"]
        assert ask(path, method="POST", headers=headers).status == 200

    def test_pages_have_their_own_csrf_check(self):
        answer = ask("/admin/login/", method="POST", headers={"Origin": "https://evil.test"})
        assert answer.status == 200


class TestSecurityHeaders:
    def test_every_response_has_the_strict_policy(self):
        assert dict(ask("/admin/").headers) == SECURITY
        assert SECURITY.items() <= dict(ask(QUERY).headers).items()

    def test_a_response_with_its_own_policy_keeps_it(self):
        answer = ask("/", app=App((b"Content-Security-Policy", b"sandbox")))
        assert dict(answer.headers) == SECURITY | {"content-security-policy": "sandbox"}


class TestIds:
    def test_a_trace_id_is_echoed_and_the_run_has_an_id(self):
        app, parent = App(), f"00-{'a' * 32}-{'b' * 16}-01"
        headers = {"X-Trace-Id": "chat-1.a_B", "traceparent": parent}
        answer = ask(QUERY, method="POST", headers=headers, app=app)
        ids = app.scopes[0][IDS_KEY]
        assert (ids.trace_id, ids.given, ids.traceparent) == ("chat-1.a_B", True, parent)
        assert answer.header("x-trace-id") == "chat-1.a_B"
        assert UUID(answer.header("x-completion-id")) == ids.run_id

    @pytest.mark.parametrize("value", ["", "a" * 129, "a b", "ä", "a\n", "../../etc", "a;b"])
    def test_an_invalid_trace_id_is_replaced(self, value):
        app = App()
        answer = ask(QUERY, headers={"X-Trace-Id": value}, app=app)
        ids = app.scopes[0][IDS_KEY]
        assert (str(UUID(answer.header("x-trace-id"))), ids.given) == (ids.trace_id, False)

    def test_the_component_api_has_a_request_id(self):
        for given in ({"X-Appbuilder-Request-Id": "mine-1"}, {}):
            app = App()
            answer = ask("/v2/components", headers=given, app=app)
            assert answer.header("x-appbuilder-request-id") == app.scopes[0][REQUEST_ID_KEY]
        assert UUID(app.scopes[0][REQUEST_ID_KEY])


class TestChecks:
    @pytest.mark.parametrize(
        ("path", "about", "status"),
        [
            (QUERY, {"headers": {"X-Long": "a" * MAX_HEADER_BYTES}}, 431),
            ("/admin/", {"query_string": b"a" * MAX_HEADER_BYTES}, 431),
            ("/v1/copilots/a\0b/query", {}, 400),
            ("/admin/", {"query_string": b"q=%00"}, 400),
        ],
    )
    @pytest.mark.parametrize("accept", ["*/*", "text/html"])
    def test_oversized_headers_and_nul_are_rejected(self, path, about, status, accept):
        app = App()
        headers = {"Accept": accept, **about.get("headers", {})}
        answer = ask(path, app=app, **{**about, "headers": headers})
        assert (answer.status, app.scopes) == (status, [])
        is_page = accept == "text/html" and path == "/admin/"
        assert answer.body.startswith(b"<!DOCTYPE html>" if is_page else b"{")

    def test_other_protocols_pass_untouched(self):
        app = App()
        call(HttpMiddleware(app), {"type": "websocket", "path": QUERY})
        assert app.scopes == [{"type": "websocket", "path": QUERY}]


class TestMetrics:
    def test_a_request_is_counted_with_its_status(self):
        counter = Counter()
        middleware = HttpMiddleware(App(), counter=counter)  # type: ignore[arg-type]
        call(middleware, scope(QUERY, method="POST"))
        call(middleware, scope("/wp-login.php", method="BREW"))
        route = "/v1/copilots/{slug}/query"
        assert counter.requests == [("POST", route, "200"), ("other", "other", "200")]
        assert counter.started == [route, "other"]

    def test_a_request_without_a_response_is_counted_too(self):
        async def fail(scope: Any, receive: Any, send: Any) -> None:
            raise ValueError("broken")

        counter = Counter()
        with pytest.raises(ValueError, match="broken"):
            call(HttpMiddleware(fail, counter=counter), scope("/healthz"))  # type: ignore[arg-type]
        assert (counter.requests, counter.started) == ([("GET", "/healthz", "none")], [])

    @pytest.mark.parametrize(
        ("path", "name"),
        [
            *(
                (path, path)
                for path in ("/", "/agents.json", "/copilots.json", "/docs", "/healthz", "/readyz")
            ),
            ("/v1/copilots/any-thing/feedback", "/v1/copilots/{slug}/feedback"),
            ("/v1/copilots/any-thing/image", "/v1/copilots/{slug}/image"),
            ("/v1/copilots/a/b/query", "other"),
            ("/v1/copilots/any-thing/query\n", "other"),
            ("/v2/components/calculator", "/v2/"),
            ("/admin/login/", "/admin/"),
            ("/static/x.js", "/static/"),
            ("", "other"),
        ],
    )
    def test_route_names_are_a_closed_set(self, path, name):
        assert get_route_name(path) == name


def test_chunks_of_a_stream_are_passed_on_as_they_are():
    """The middleware may touch the first message only: this is the hot path."""
    chunks = [{"type": "http.response.body", "body": b"x", "more_body": True} for _ in range(3)]
    sent: list[Any] = []

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for chunk in chunks:
            await send(chunk)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(HttpMiddleware(stream)(scope(QUERY), None, send))  # type: ignore[arg-type]
    assert all(one is chunk for one, chunk in zip(sent[1:], chunks, strict=True))
