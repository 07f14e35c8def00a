"""A request for which the system has no thread gets an answer that says so."""

import errno
import os

from django.http import HttpResponse
from django.test import RequestFactory
import pytest

from copilot_admin.http.asgi_types import App, Receive, Scope, Send
from copilot_admin.http.error_pages import server_error
from copilot_admin.http.out_of_threads import OutOfThreads
from tests.http.asgi_client import Answer, call, scope

NO_THREAD = RuntimeError("can't start new thread")
NO_FILE = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
FAULT = RuntimeError("a bug")


def breaking(error: Exception, *, pieces: int = 0, of: int = 1) -> App:
    """An application that sends some pieces of its answer, and breaks."""

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        if pieces:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(pieces):
            is_more = number + 1 < of
            await send({"type": "http.response.body", "body": b"x", "more_body": is_more})
        raise error

    return app


def answer_of(app: App, path: str) -> Answer:
    return call(OutOfThreads(app), scope(path, headers={"Accept": "text/html"}))


@pytest.mark.parametrize("error", [NO_THREAD, NO_FILE])
def test_a_page_is_told_to_come_again(error, caplog):
    answer = answer_of(breaking(error), "/admin/")
    assert (answer.status, answer.header("retry-after"), answer.is_whole) == (503, "5", True)
    assert answer.header("content-length") == str(len(answer.body))
    assert b"The server is busy" in answer.body
    assert caplog.messages == [f"a page could not be shown: {error}"]


def test_a_page_whose_own_files_cannot_be_opened_is_told_in_a_few_words(monkeypatch):
    """It was a fault (500): the first page of a process reads its templates, and what they use."""

    def draw(*_: object) -> str:
        raise NO_FILE

    monkeypatch.setattr("copilot_admin.http.error_pages.render_to_string", draw)
    answer = answer_of(breaking(NO_FILE), "/admin/")
    assert (answer.status, answer.header("retry-after"), answer.is_whole) == (503, "5", True)
    assert answer.header("cache-control") == "no-store"
    assert b"The server is busy. Load the page again in a few seconds." in answer.body


def test_a_program_is_told_to_come_again():
    answer = answer_of(breaking(NO_THREAD), "/copilots.json")
    assert (answer.status, answer.header("content-type")) == (503, "application/json")
    assert b'"code": "unavailable"' in answer.body


def test_an_answer_that_was_sent_whole_stays_as_it_is(caplog):
    answer = answer_of(breaking(NO_THREAD, pieces=1), "/admin/")
    assert (answer.status, answer.body, answer.is_whole) == (200, b"x", True)
    assert "nothing was put away after an answer: can't start new thread" in caplog.text


@pytest.mark.parametrize(
    ("app", "error"), [(breaking(NO_THREAD, pieces=1, of=2), NO_THREAD), (breaking(FAULT), FAULT)]
)
def test_half_an_answer_and_a_fault_end_as_they_did(app, error):
    with pytest.raises(RuntimeError) as raised:
        answer_of(app, "/admin/")
    assert raised.value is error


def test_a_view_that_finds_no_thread_or_file_is_put_off():
    assert [_told(error).status_code for error in (NO_THREAD, NO_FILE, FAULT)] == [503, 503, 500]


def _told(error: Exception) -> HttpResponse:
    try:
        raise error
    except (RuntimeError, OSError):
        return server_error(RequestFactory().get("/admin/"))
