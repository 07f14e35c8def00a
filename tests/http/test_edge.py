"""The edge before Django: origins, bodies, headers, ids, start and stop."""

import asyncio
import threading
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries
import pytest

from copilot_admin.errors import ConfigurationError
from copilot_admin.http.allowed_origins import AllowedOrigins
from copilot_admin.http.cors import Cors, Preflights
from copilot_admin.http.ids import RequestIds
from copilot_admin.http.lifespan import Lifespan
from copilot_admin.http.request_end import SharedRequestEnd
from copilot_admin.http.root_path import WithoutClientRootPath
from copilot_admin.http.security_headers import CONTENT_SECURITY_POLICY, SecurityHeaders
from copilot_admin.http.signals import keep_start_in_event_loop
from copilot_admin.http.stray_slashes import WithoutStraySlashes
from tests.http.asgi_client import call, scope
from tests.polling import HANGS_SECONDS

WORKSPACE = "https://pro.openbb.co"
QUERY = "/v1/copilots/news/query"


async def echo(request: Any, receive: Any, send: Any) -> None:
    """Answers with the body that it got."""
    message = await receive()
    headers = request.get("answer_headers", [])
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": message.get("body", b"")})


class TestCors:
    origins = AllowedOrigins([WORKSPACE])
    app = Cors(Preflights(echo, origins=origins, extra_headers=["x-firm"]), origins=origins)

    def test_a_known_origin_is_echoed_and_may_read_both_ids(self):
        answer = call(self.app, scope(QUERY, method="POST", headers={"Origin": WORKSPACE}))
        assert dict(answer.headers) == {
            "access-control-allow-origin": WORKSPACE,
            "access-control-expose-headers": "X-Trace-Id, X-Completion-Id, Retry-After",
            "vary": "Origin",
        }

    def test_a_preflight_of_a_known_origin_names_what_is_allowed(self):
        answer = call(
            self.app,
            scope(
                QUERY,
                method="OPTIONS",
                headers={
                    "Origin": WORKSPACE,
                    "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "content-type,x-trace-id",
                    "Access-Control-Request-Private-Network": "true",
                },
            ),
        )
        assert (answer.status, answer.body, answer.is_whole) == (204, b"", True)
        assert dict(answer.headers) == {
            "access-control-allow-origin": WORKSPACE,
            "access-control-allow-methods": "GET, POST, OPTIONS",
            "access-control-allow-headers": (
                "content-type, x-trace-id, authorization, x-api-key, x-firm"
            ),
            "access-control-allow-private-network": "true",
            "access-control-expose-headers": "X-Trace-Id, X-Completion-Id, Retry-After",
            "access-control-max-age": "600",
            "vary": "Origin",
        }

    @pytest.mark.parametrize("asked", [{}, {"Access-Control-Request-Private-Network": "false"}])
    def test_a_private_network_is_allowed_to_whom_it_is_asked_for(self, asked):
        headers = {"Origin": WORKSPACE, "Access-Control-Request-Method": "POST", **asked}
        answer = call(self.app, scope(QUERY, method="OPTIONS", headers=headers))
        assert answer.header("access-control-max-age") == "600"
        assert answer.header("access-control-allow-private-network") is None

    @pytest.mark.parametrize(
        "origin",
        [
            "null",
            "https://pro.openbb.co.evil.test",
            "https://evil.test/https://pro.openbb.co",
            "https://pro.openbb.co:443",
            "https://pro.openbb.co/",
            "http://pro.openbb.co",
            "https://PRO.openbb.co",
            "https://pro.openbb.co%00",
            "https://xpro.openbb.co",
            "https://pro.openbb.co, https://evil.test",
            " https://pro.openbb.co",
            "*",
            "",
        ],
    )
    @pytest.mark.parametrize("method", ["POST", "OPTIONS"])
    def test_any_other_spelling_of_an_origin_is_a_stranger(self, origin, method):
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        answer = call(self.app, scope(QUERY, method=method, headers=headers))
        assert dict(answer.headers) == {"vary": "Origin"}

    def test_the_admin_has_none(self):
        answer = call(self.app, scope("/admin/", headers={"Origin": WORKSPACE}))
        assert answer.headers == []

    def test_options_without_a_wish_is_an_ordinary_request(self):
        answer = call(self.app, scope(QUERY, method="OPTIONS"), body=[b"asked"])
        assert answer.body == b"asked"

    def test_a_wish_that_is_no_preflight_is_an_ordinary_request(self):
        headers = {"Origin": WORKSPACE, "Access-Control-Request-Method": "POST"}
        answer = call(self.app, scope(QUERY, method="POST", headers=headers), body=[b"asked"])
        assert (answer.status, answer.body) == (200, b"asked")

    def test_several_vary_headers_become_one(self):
        request = scope("/agents.json", answer_headers=[(b"Vary", b"Authorization, X-API-Key")])
        answer = call(self.app, request)
        assert answer.header("vary") == "Authorization, X-API-Key, Origin"

    def test_the_other_headers_of_an_answer_stay(self):
        request = scope("/agents.json", answer_headers=[(b"X-Own", b"1")])
        assert call(self.app, request).headers == [("x-own", "1"), ("vary", "Origin")]


class TestSecurityHeaders:
    app = SecurityHeaders(echo)

    def test_every_answer_has_the_strict_policy(self):
        headers = dict(call(self.app, scope("/admin/")).headers)
        assert headers == {
            "content-security-policy": CONTENT_SECURITY_POLICY,
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
            "x-frame-options": "DENY",
            "cross-origin-opener-policy": "same-origin",
        }

    def test_an_answer_with_a_policy_of_its_own_keeps_it(self):
        request = scope("/", answer_headers=[(b"Content-Security-Policy", b"sandbox")])
        answer = call(self.app, request)
        assert answer.header("content-security-policy") == "sandbox"
        assert answer.header("x-frame-options") == "DENY"

    def test_nothing_but_http_is_touched(self):
        seen: list[str] = []

        async def note(request: Any, receive: Any, send: Any) -> None:
            seen.append(request["type"])

        call(SecurityHeaders(note), {"type": "websocket", "path": "/"})
        assert seen == ["websocket"]


class TestIds:
    def answer(self, headers: dict[str, str]) -> tuple[Any, Any]:
        seen: list[Any] = []

        async def note(request: Any, receive: Any, send: Any) -> None:
            seen.append(request.get("copilot_admin.ids"))
            await echo(request, receive, send)

        answer = call(RequestIds(note), scope(QUERY, method="POST", headers=headers))
        return seen[0], answer

    def test_a_trace_id_is_echoed_and_the_run_is_named(self):
        ids, answer = self.answer({"X-Trace-Id": "chat-1.a_B"})
        assert (ids.trace_id, ids.given) == ("chat-1.a_B", True)
        assert answer.header("x-trace-id") == "chat-1.a_B"
        assert UUID(answer.header("x-completion-id")) == ids.run_id

    @pytest.mark.parametrize("value", ["", "a" * 129, "a b", "ä", "a\n", "../../etc", "a;b"])
    def test_an_unusable_trace_id_counts_as_absent(self, value):
        ids, answer = self.answer({"X-Trace-Id": value})
        assert ids.given is False
        assert UUID(ids.trace_id) == UUID(answer.header("x-trace-id"))

    def test_the_span_of_whoever_sent_the_request_is_known(self):
        parent = f"00-{'a' * 32}-{'b' * 16}-01"
        ids, _ = self.answer({"traceparent": parent})
        assert ids.traceparent == parent

    def test_the_discovery_documents_have_ids_too(self):
        answer = call(RequestIds(echo), scope("/agents.json", headers={"X-Trace-Id": "chat-1"}))
        assert answer.header("x-trace-id") == "chat-1"
        assert UUID(answer.header("x-completion-id"))

    def test_other_paths_have_no_ids(self):
        assert call(RequestIds(echo), scope("/admin/")).headers == []

    def test_nothing_but_http_has_ids(self):
        request = {"type": "websocket", "path": QUERY, "headers": []}
        assert call(RequestIds(echo), request).headers == []

    def test_what_an_answer_says_itself_stays(self):
        request = scope(QUERY, headers={"X-Trace-Id": "c"}, answer_headers=[(b"X-Own", b"1")])
        names = [name for name, _ in call(RequestIds(echo), request).headers]
        assert names == ["x-own", "x-trace-id", "x-completion-id"]

    def test_a_request_of_the_component_api_has_one_more(self):
        seen: list[Any] = []

        async def note(request: Any, receive: Any, send: Any) -> None:
            seen.append(request["copilot_admin.request_id"])
            await echo(request, receive, send)

        for given in ({"X-Appbuilder-Request-Id": "mine-1"}, {}):
            answer = call(RequestIds(note), scope("/v2/components", headers=given))
            assert answer.header("x-appbuilder-request-id") == seen[-1]
        assert (seen[0], str(UUID(seen[1]))) == ("mine-1", seen[1])


def test_a_client_cannot_choose_the_root_path():
    seen: list[Any] = []

    async def note(request: Any, receive: Any, send: Any) -> None:
        seen.append((request.get("root_path"), request["headers"]))

    headers = {"Daphne-Root-Path": "/evil", "Accept": "*/*"}
    call(WithoutClientRootPath(note), scope("/", headers=headers, root_path="/evil"))
    call(WithoutClientRootPath(note), scope("/", headers={"Accept": "*/*"}, root_path="/mine"))
    assert seen == [("", [(b"accept", b"*/*")]), ("/mine", [(b"accept", b"*/*")])]


def test_the_lifespan_runs_its_hooks_in_order():
    log: list[str] = []

    async def start() -> None:
        log.append("start")

    async def stop() -> None:
        log.append("stop")

    async def scenario() -> None:
        messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

        async def receive() -> Any:
            return messages.pop(0)

        async def send(message: Any) -> None:
            log.append(message["type"])

        await Lifespan(echo, start=start, stop=stop)({"type": "lifespan"}, receive, send)

    asyncio.run(scenario())
    assert log == ["start", "lifespan.startup.complete", "stop", "lifespan.shutdown.complete"]


def test_the_lifespan_hands_requests_on():
    async def unused() -> None:
        raise AssertionError

    assert call(Lifespan(echo, start=unused, stop=unused), scope("/"), body=[b"x"]).body == b"x"


def test_a_server_that_cannot_start_says_why_and_is_not_stopped():
    sent: list[Any] = []

    async def start() -> None:
        raise ConfigurationError("Set SECRET_KEY.")

    async def stop() -> None:
        raise AssertionError

    async def scenario() -> None:
        messages = [{"type": "lifespan.startup"}]

        async def receive() -> Any:
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        await Lifespan(echo, start=start, stop=stop)({"type": "lifespan"}, receive, send)

    asyncio.run(scenario())
    assert sent == [{"type": "lifespan.startup.failed", "message": "Set SECRET_KEY."}]


def test_a_request_starts_without_a_receiver_that_would_need_a_thread():
    for receiver in (close_old_connections, reset_queries):
        request_started.connect(receiver)  # as Django does when it is imported
    keep_start_in_event_loop()
    assert request_started._live_receivers(None)[0] == []


def test_two_streams_that_end_at_once_end_on_one_thread():
    ended: list[str] = []
    both_asked = threading.Event()

    def end() -> None:
        both_asked.wait(HANGS_SECONDS)
        ended.append(threading.current_thread().name)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked = asyncio.ensure_future(sync_to_async(end)())
        if scope["path"] == "/v2/components":
            await asyncio.sleep(0)
            both_asked.set()
        await asked

    async def scenario() -> None:
        shared = SharedRequestEnd(app)
        requests = [scope(path, method="POST") for path in (QUERY, "/v2/components")]
        await asyncio.gather(*(shared(one, None, None) for one in requests))  # type: ignore[arg-type]

    asyncio.run(scenario())
    assert ended == ["request-end_0", "request-end_0"]


def test_all_queries_end_on_one_thread_and_pages_on_their_own():
    ended: list[str] = []

    async def app(scope, receive, send):
        ended.append(await sync_to_async(lambda: threading.current_thread().name)())

    shared = SharedRequestEnd(app)
    for path in ("/v1/copilots/a/query", "/v1/copilots/b/query"):
        call(shared, scope(path, method="POST"))
    assert ended == ["request-end_0", "request-end_0"]
    call(shared, scope("/admin/"))
    assert not ended[2].startswith("request-end")


class TestStraySlashes:
    @pytest.mark.parametrize(
        ("asked", "served"),
        [
            ("/agents.json", "/agents.json"),
            ("//agents.json", "/agents.json"),
            ("/copilots.json/", "/copilots.json"),
            (f"/{QUERY}//", QUERY),
            ("/v1/copilots/news/feedback/", "/v1/copilots/news/feedback"),
            ("/v1/copilots/café/query/", "/v1/copilots/café/query"),
            ("/v1/", "/v1/"),
            ("/", "/"),
            ("//", "//"),
            ("/admin/", "/admin/"),
            ("//admin/", "//admin/"),
            ("/v2/components/", "/v2/components/"),
            ("/x/agents.json/", "/x/agents.json/"),
        ],
    )
    def test_only_addresses_of_discovery_and_of_copilots_lose_them(self, asked, served):
        seen: list[dict[str, Any]] = []

        async def look(request: Any, receive: Any, send: Any) -> None:
            seen.append(request)
            await echo(request, receive, send)

        call(WithoutStraySlashes(look), scope(asked, raw_path=b"as it came"))
        [request] = seen
        as_it_came = asked == served
        raw = b"as it came" if as_it_came else served.encode().replace(b"\xc3\xa9", b"%C3%A9")
        assert (request["path"], request["raw_path"]) == (served, raw)

    def test_sockets_are_left_alone(self):
        seen: list[str] = []

        async def look(request: Any, receive: Any, send: Any) -> None:
            seen.append(request["path"])

        asyncio.run(WithoutStraySlashes(look)({"type": "websocket", "path": "//v1/"}, echo, echo))
        assert seen == ["//v1/"]
