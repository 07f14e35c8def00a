"""Bodies on their way through Django: not copied, and not kept."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from time import sleep
from weakref import ref

from django.core.exceptions import RequestAborted, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.template.response import TemplateResponse
from django.test import RequestFactory
from django.utils.datastructures import MultiValueDict
import pytest

from copilot_admin.http import django_handler
from copilot_admin.http.asgi_types import App, Message
from copilot_admin.http.bodies import BodyLimits
from copilot_admin.http.django_handler import Handler, Request, forget_body, most_together
from tests.http.asgi_client import call, scope
from tests.http.test_form_bodies import TYPE, form
from tests.http.test_form_bodies import part as part_of_form


def body_of(*messages: Message) -> bytes:
    """What Django reads of some messages."""

    async def read(waiting: Sequence[Message]) -> bytes:
        left = [*waiting]

        async def receive() -> Message:
            return left.pop(0)

        with await Handler().read_body(receive) as file:
            return bytes(file.read())

    return asyncio.run(read(messages))


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_in_one_message_is_read():
    body = b"x" * 1000
    assert body_of(part(body)) == body


@pytest.mark.parametrize("messages", [(part(b""),), ({"type": "http.request"},)])
def test_a_request_without_a_body_has_none(messages):
    assert body_of(*messages) == b""


def test_a_body_in_many_messages_is_put_together():
    assert body_of(part(b"a", more=True), part(b"b", more=True), part(b"c")) == b"abc"


@pytest.mark.parametrize("before", [(), (part(b"a", more=True),)])
def test_a_client_that_has_left_is_not_answered(before):
    with pytest.raises(RequestAborted):
        body_of(*before, {"type": "http.disconnect"})


def test_a_body_that_is_forgotten_is_held_by_nothing_of_the_request():
    request = RequestFactory().post("/", b"x" * 1000, content_type="text/plain")
    assert len(request.body) == 1000

    forget_body(request)

    held = [value for value in vars(request).values() if isinstance(value, bytes)]
    assert (request.body, held) == (b"", [b""])
    assert isinstance(vars(request)["_stream"], BytesIO)
    assert vars(request)["_stream"].getvalue() == b""


class Seen(Handler):
    """Answers nothing, and tells what a request held before its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[HttpRequest] = []
        self.given: list[tuple[dict[str, object], int, bytes]] = []

    async def get_response_async(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        body = b"" if request.POST or request.FILES else request.body
        self.given.append((request.POST.dict(), len(request.FILES), body))
        return HttpResponse()


def posted(app: App, path: str, body: bytes, *, content_type: str) -> None:
    headers = {"Content-Type": content_type, "Content-Length": str(len(body)), "Host": "testserver"}
    request = scope(path, method="POST", headers=headers)
    call(BodyLimits(app, max_bytes=100_000), request, body=[body])


@pytest.mark.parametrize("large", [1, 1000])
def test_a_form_is_forgotten_when_it_is_answered(monkeypatch, large):
    monkeypatch.setattr(django_handler, "_LARGE_FORM_BYTES", large)
    app = Seen()
    sent = form(part_of_form("a", b"1"), part_of_form("b", b"2", file="b"))
    posted(app, "/admin/", sent, content_type=TYPE)
    assert app.given == [({"a": "1"}, 1, b"")]
    (request,) = app.requests
    assert (request.POST.dict(), len(request.FILES), request.body) == ({}, 0, b"")


def test_the_limit_of_texts_in_forms_is_none_of_other_bodies(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    app = Seen()
    posted(app, "/v2/components/x/v1/run", b"x" * 1000, content_type="application/json")
    assert app.given == [({}, 0, b"x" * 1000)]


def test_the_limit_of_texts_in_forms_holds_for_pages(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    with pytest.raises(RequestDataTooBig):
        posted(Seen(), "/admin/", b"x" * 1000, content_type="application/json")


@pytest.mark.parametrize(("limit", "most"), [(10, 10), (None, 40_000), (50_000, 40_000)])
def test_texts_of_a_form_take_no_more_than_the_setting_says_and_a_page_shows(
    settings, monkeypatch, limit, most
):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = limit
    monkeypatch.setattr(django_handler, "MOST_SHOWN_BYTES", 40_000)
    assert most_together() == most


def test_a_handler_has_the_middleware_of_the_settings(settings):
    settings.MIDDLEWARE = ["no.such.middleware"]
    with pytest.raises(ImportError, match="no"):
        Handler()


@pytest.mark.parametrize("content_type", [TYPE, "application/x-www-form-urlencoded"])
def test_a_form_is_read_no_further_than_its_page_may_show_again(monkeypatch, content_type):
    monkeypatch.setattr(django_handler, "MOST_SHOWN_BYTES", 40_000)

    def fits(text: str) -> bool:
        data = text.encode()
        sent = form(part_of_form("a", data)) if content_type == TYPE else b"a=" + data
        try:
            posted(Seen(), "/admin/", sent, content_type=content_type)
        except RequestDataTooBig:
            return False
        return True

    assert fits("x" * 30_000)
    assert fits("'" * 6_000)
    assert not fits("'" * 7_000)
    assert not fits("'" * 2_000 + "\U0001f600")
    assert fits("x" * 9_000 + "\U0001f600")


class Shown(Handler):
    """Shows a form again, whose fields and itself hold each other, as Django's do."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once: list[int] = []
        self.left: list[int] = []
        self._made: list[ref[MultiValueDict[str, str]]] = []
        self._showing = 0

    async def get_response_async(self, request: HttpRequest) -> TemplateResponse:
        self.left.append(sum(one() is not None for one in self._made))
        self._showing += 1
        await asyncio.sleep(0)  # another request may go on
        self.at_once.append(self._showing)
        self._showing -= 1
        form = MultiValueDict({"text": [request.POST["text"]]})
        form["itself"] = form  # type: ignore[assignment]
        self._made.append(ref(form))
        response = TemplateResponse(request, "400.html", {"form": form})
        response.content = request.POST["text"]
        return response


@pytest.mark.parametrize(
    ("size", "at_once", "left"), [(1001, {1}, {0}), (500, {1, 2, 3, 4}, {0, 1, 2, 3})]
)
def test_large_forms_are_answered_one_after_the_other_and_leave_nothing(
    monkeypatch, size, at_once, left
):
    monkeypatch.setattr(django_handler, "_LARGE_FORM_BYTES", 1000)
    app = Shown()

    async def answered() -> list[HttpResponseBase]:
        body = b"text=" + b"x" * (size - 5)
        kind = "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, "Content-Length": str(size)}
        asked = scope("/admin/", method="POST", headers=headers)
        requests = [Request(asked, BytesIO(body)) for _ in range(4)]
        return list(await asyncio.gather(*map(app.run_get_response, requests)))

    responses = asyncio.run(answered())
    assert [response.content for response in responses] == [b"x" * (size - 5)] * 4
    assert set(app.at_once) <= at_once
    assert set(app.left) <= left
    assert (len(set(app.at_once)) == 1) == (size > 1000)


def test_forms_are_read_one_after_the_other(monkeypatch):
    at_once: list[int] = []
    reading: list[object] = []

    class Parser:
        def __init__(self, *_: object) -> None: ...

        def parse(self) -> object:
            reading.append(self)
            sleep(0)  # another thread may go on
            at_once.append(len(reading))
            reading.remove(self)
            return QueryDict(), MultiValueDict()

    monkeypatch.setattr("django.http.request.MultiPartParser", Parser)

    def read(_: int) -> QueryDict:
        request = scope("/admin/", method="POST", headers={"Content-Type": TYPE})
        return Request(request, BytesIO()).POST

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(read, range(200))] == [QueryDict()] * 200
    assert set(at_once) == {1}


def test_an_answer_tells_its_length_to_whoever_counts_what_waits():
    class Answers(Handler):
        async def get_response_async(self, request: HttpRequest) -> HttpResponse:
            return HttpResponse(b"12345" if request.path == "/healthz" else b"", status=200)

    def lengths(path: str) -> list[str]:
        answer = call(Answers(), scope(path, headers={"Host": "testserver"}))
        return [value for name, value in answer.headers if name == "content-length"]

    assert (lengths("/healthz"), lengths("/readyz")) == (["5"], [])
