"""Without a database every address says so, in its own shape, and is there again by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
import json
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import AsyncClient, Client
import pytest

from copilot_admin.api import health
from copilot_admin.asgi import application
from copilot_admin.storage.writer import READER, WRITER
from tests.factories import make_published
from tests.live_server import serving
from tests.polling import HANGS_SECONDS
from tests.wire import Line

pytestmark = pytest.mark.django_db(transaction=True)

HELLO = {"messages": [{"role": "human", "content": "Hello"}]}
QUERY = "/v1/copilots/news/query"
PLACES: tuple[tuple[str, str, Any], ...] = (
    ("POST", QUERY, HELLO),
    ("POST", "/v1/copilots/news/feedback", {"vote": "thumbs_up"}),
    ("GET", "/v1/copilots/news/image", None),
    ("GET", "/agents.json", None),
    ("GET", "/copilots.json", None),
    ("GET", "/v2/components", None),
    ("GET", "/v2/components/calculator/version/latest", None),
    ("POST", "/v2/components/calculator", {"expression": "1"}),
)


@pytest.fixture(params=[OperationalError, InterfaceError])
def away(request) -> Iterator[pytest.MonkeyPatch]:
    """A database that gives no connection, until it is mended."""
    with no_connection(request.param("connection refused by 10.1.2.3")) as patch:
        yield patch


@contextmanager
def no_connection(error: Exception) -> Iterator[pytest.MonkeyPatch]:
    for thread in (WRITER, READER):
        thread.stop(timeout=HANGS_SECONDS)

    def refuse(*_: object) -> None:
        raise error

    connection.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "ensure_connection", refuse)
        yield patch


@pytest.mark.parametrize(("method", "path", "body"), PLACES)
def test_the_api_says_503_and_when_to_ask_again(away, caplog, method, path, body):
    for _ in range(2):
        response = asked(method, path, body)
        said = json.loads(response.content)
        text = "The server cannot reach its database now. Ask again in a few seconds."
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert (said["code"], said.get("detail") or said["message"]) == (
            "database-unavailable",
            text,
        )
        assert "10.1.2.3" not in response.content.decode()
    lines = [one for one in caplog.records if one.name == "copilot_admin.http.errors"]
    assert [(one.levelname, one.exc_info) for one in lines] == [("WARNING", None)] * 2
    assert "10.1.2.3" not in caplog.text


def asked(method: str, path: str, body: Any) -> Any:
    """The answer to a request with a key that has to be looked up."""
    headers = {"X-API-Key": "any", "Origin": "https://pro.openbb.co"}

    async def ask() -> Any:
        return await AsyncClient().generic(
            method, path, json.dumps(body), content_type="application/json", headers=headers
        )

    return async_to_sync(ask)()


def test_the_answer_reaches_a_browser_and_the_server_recovers_by_itself():
    make_published(slug="news")
    headers = {"Origin": "https://pro.openbb.co"}
    with serving(application) as url:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(READER, "submit", refusing)
            with Line(url + QUERY, body=HELLO, headers=headers) as line:
                line.read_all()
            assert (line.status, line.headers["retry-after"]) == (503, "5")
            assert line.headers["access-control-allow-origin"] == "https://pro.openbb.co"
            with Line(url + "/readyz", method="GET") as line:
                line.read_all()
            assert line.status == 503
        with Line(url + QUERY, body=HELLO) as line:
            line.read_all()
        assert line.status == 200


def refusing(job: object) -> None:
    raise OperationalError("the connection is closed")


def page_of_a_session(path: str, *, is_async: bool) -> Any:
    """What somebody is shown whose session has to be looked up."""
    kind: Any = AsyncClient if is_async else Client
    client = kind(raise_request_exception=False)
    client.cookies.load({settings.SESSION_COOKIE_NAME: "a" * 32})
    return async_to_sync(client.get)(path) if is_async else client.get(path)


@pytest.mark.parametrize("path", ["/admin/", "/admin/copilot_admin/copilot/"])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_page_says_so_in_the_look_of_the_admin(away, path, is_async):
    response = page_of_a_session(path, is_async=is_async)
    page = response.content.decode()
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response["Cache-Control"] == "no-store"
    assert "css/components.css" in page
    assert "10.1.2.3" not in page
    away.undo()
    assert Client().get("/admin/login/").status_code == 200


class TestReady:
    def test_a_full_disk_is_told_and_which_one_in_the_log_alone(
        self, monkeypatch, tmp_path, caplog
    ):
        """Anybody may ask, and was told the folders of the server."""
        with monkeypatch.context() as patch:
            patch.setattr(health, "find_disk_problem", lambda: f"the disk of {tmp_path} is full")
            assert [ready(), ready()] == [(503, health.DISK_FULL)] * 2
        assert ready() == (200, None)
        assert (
            caplog.messages.count(f"this server is not ready: the disk of {tmp_path} is full") == 1
        )
        assert str(tmp_path) not in health.DISK_FULL

    def test_a_database_that_is_away_is_told_and_once_in_the_log(self, away, caplog):
        away.setattr(health, "_last_problem", "")
        away_now = "the database does not answer"
        assert [ready(), ready()] == [(503, away_now)] * 2
        assert caplog.messages == [f"this server is not ready: {away_now}"]


def ready() -> tuple[int, str | None]:
    response = async_to_sync(AsyncClient().get)("/readyz")
    return response.status_code, json.loads(response.content).get("reason")
