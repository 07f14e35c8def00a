"""Questions that are refused are told to those who watch the server, with what is known of them."""

from collections.abc import Callable
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from copilot_admin.models import Access, Outcome, Run
from copilot_admin.telemetry import finished_runs
from copilot_admin.telemetry.finished_runs import FinishedRun
from tests.factories import make_key, make_published
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

HELLO = json.dumps({"messages": [{"role": "human", "content": "Hello"}]}).encode()
HEADERS = {"Content-Type": "application/json", "X-Trace-Id": "chat-1"}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[FinishedRun]:
    """The runs that somebody is told of."""
    runs: list[FinishedRun] = []
    monkeypatch.setattr(finished_runs, "LISTENERS", [runs.append])
    return runs


@pytest.fixture
def ask(service_url: str) -> Callable[..., int]:
    """Asks the service over a socket; gives the status."""

    def ask(body: bytes = HELLO, *, slug: str = "news", **headers: str) -> int:
        line = http.client.HTTPConnection(urlsplit(service_url).netloc, timeout=HANGS_SECONDS)
        try:
            path = f"/v1/copilots/{slug}/query"
            line.request("POST", path, body=body, headers={**HEADERS, **headers})
            response = line.getresponse()
            response.read()
            return response.status
        finally:
            line.close()

    return ask


def about(run: FinishedRun) -> dict[str, Any]:
    names = ("trace_id", "copilot", "version", "caller", "error_code")
    assert run.outcome is Outcome.REFUSED
    assert run.times.received <= run.times.ended
    assert run.has_row == Run.objects.exists()
    return {name: getattr(run, name) for name in names}


STRANGER = {"trace_id": "chat-1", "copilot": "", "version": None, "caller": ""}


@pytest.mark.parametrize(
    ("slug", "headers", "status", "code"),
    [
        ("nowhere", {}, 404, "not-found"),
        ("news", {}, 401, "unauthorized"),
        ("news", {"X-API-Key": "wrong"}, 401, "unauthorized"),
    ],
)
def test_who_is_not_let_in_is_told_without_a_copilot(ask, told, slug, headers, status, code):
    make_published(slug="news", access=Access.KEY)
    assert ask(slug=slug, **headers) == status
    assert [about(run) for run in told] == [{**STRANGER, "error_code": code}]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [(b"{", 400, "malformed-json"), (b'{"messages": []}', 422, "messages-empty")],
)
def test_a_question_that_cannot_be_read_is_told_with_its_copilot(ask, told, body, status, code):
    make_published(slug="news", access=Access.KEY)
    key, text = make_key()
    assert ask(body, **{"X-API-Key": text}) == status
    (run,) = told
    assert about(run) == {
        "trace_id": "chat-1",
        "copilot": "news",
        "version": 1,
        "caller": f"key:{key.pk}",
        "error_code": code,
    }
