"""The answers of the edge itself, in the shape that its sender can read."""

import json
from typing import Any

from django.test import RequestFactory
import pytest

from copilot_admin.errors import BodyTooLarge, RequestError, Unavailable
from copilot_admin.http.ids import RequestIds
from copilot_admin.http.refusals import send_refusal
from copilot_admin.http.request_ids import request_id_of
from copilot_admin.telemetry import refused_requests
from tests.http.asgi_client import Answer, call, scope

ERROR = BodyTooLarge("Send less.")


async def refuse(request: Any, receive: Any, send: Any) -> None:
    await send_refusal(request, send, ERROR, headers=[(b"connection", b"close")])


@pytest.mark.parametrize(
    ("path", "accept"),
    [("/v1/copilots/news/query", "text/html"), ("/agents.json", "text/html"), ("/admin/", "*/*")],
)
def test_programs_get_json(path, accept):
    answer = call(refuse, scope(path, headers={"Accept": accept}))
    assert json.loads(answer.body) == {"detail": "Send less.", "code": "body-too-large"}
    assert answer.status == 413
    assert answer.headers == [
        ("content-type", "application/json"),
        ("connection", "close"),
        ("content-length", str(len(answer.body))),
        ("cache-control", "no-store"),
    ]


@pytest.mark.parametrize("accept", ["*/*", "text/html"])
def test_who_may_come_again_is_told_when(accept):
    async def busy(request: Any, receive: Any, send: Any) -> None:
        await send_refusal(request, send, Unavailable("Try again.", retry_after=7))

    answer = call(busy, scope("/admin/", headers={"Accept": accept}))
    assert (answer.status, dict(answer.headers)["retry-after"]) == (503, "7")


def test_who_counts_refusals_is_told_of_each(monkeypatch):
    told: list[RequestError] = []
    monkeypatch.setattr(refused_requests, "LISTENERS", [told.append])
    call(refuse, scope("/agents.json"))
    assert told == [ERROR]


def test_people_get_a_page():
    answer = call(refuse, scope("/admin/", headers={"Accept": "text/html,*/*;q=0.8"}))
    assert b"Send less." in answer.body
    assert answer.headers == [
        ("content-type", "text/html; charset=utf-8"),
        ("connection", "close"),
        ("content-length", str(len(answer.body))),
        ("cache-control", "no-store"),
    ]


@pytest.mark.parametrize(
    ("languages", "start"),
    [
        ("", b'lang="en" dir="ltr"'),
        ("ar-EG,ar;q=0.9,en;q=0.8", b'lang="ar" dir="rtl"'),
        ("tlh, \xff;q=x, " + "a" * 600, b'lang="en" dir="ltr"'),
    ],
)
def test_the_page_is_in_the_language_of_its_reader(settings, languages, start):
    settings.LANGUAGES = [("en", "English"), ("ar", "Arabic")]
    headers = {"Accept": "text/html", "Accept-Language": languages}
    for asked in (headers, {"Accept": "text/html"}):  # who asks next has a language of his own
        answer = call(refuse, scope("/admin/", headers=asked))
        assert (start if asked is headers else b'lang="en" dir="ltr"') in answer.body


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BodyTooLarge("More than %(most)d KB.", params={"most": 64}), "«More than 64 KB.»"),
        (BodyTooLarge("100% too much."), "«100% too much.»"),
    ],
)
def test_people_are_told_why_in_their_language_and_programs_as_ever(error, told, monkeypatch):
    """As if there were another language, in which every sentence has marks around it."""

    async def refusing(request: Any, receive: Any, send: Any) -> None:
        await send_refusal(request, send, error)

    marked = "django.utils.translation._trans.gettext"
    monkeypatch.setattr(marked, lambda text: f"«{text}»", raising=False)
    page = call(refusing, scope("/admin/", headers={"Accept": "text/html"}))
    assert told in page.body.decode()
    assert json.loads(call(refusing, scope("/v1/copilots/a/query")).body)["detail"] == told[1:-1]


def test_a_refusal_needs_no_headers_of_its_own():
    async def plain(request: Any, receive: Any, send: Any) -> None:
        await send_refusal(request, send, ERROR)

    def names(accept: str) -> list[str]:
        answer: Answer = call(plain, scope("/admin/", headers={"Accept": accept}))
        return [name for name, _ in answer.headers]

    assert names("*/*") == names("text/html") == ["content-type", "content-length", "cache-control"]


def test_clients_of_the_component_api_get_its_shape_with_their_id():
    headers = {"X-Appbuilder-Request-Id": "mine-1"}
    answer = call(RequestIds(refuse), scope("/v2/components", headers=headers))
    assert json.loads(answer.body) == {
        "request_id": "mine-1",
        "code": "body-too-large",
        "message": "Send less.",
    }


class TestRequestIdOf:
    def test_outside_the_component_api_there_is_none(self):
        assert request_id_of(RequestFactory().get("/v1/copilots/news/query")) is None

    def test_it_is_the_one_that_the_edge_gave(self):
        request = RequestFactory().get("/v2/components")
        request.scope = {"copilot_admin.request_id": "from the edge"}  # type: ignore[attr-defined]
        assert request_id_of(request) == "from the edge"

    @pytest.mark.parametrize("given", [{"X-Appbuilder-Request-Id": "mine-1"}, {}])
    def test_without_an_edge_it_is_made_once(self, given):
        request = RequestFactory().get("/v2/components", headers=given)
        made = request_id_of(request)
        assert made == request_id_of(request)
        assert (made == "mine-1") is bool(given)
        assert request.META["copilot_admin.request_id"] == made
