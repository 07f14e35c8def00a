"""That programs are told to come again is a line of the log once in a while, however many they are."""

from collections.abc import Iterator

from django import db
from django.test import RequestFactory
import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.http.error_pages import server_error
from copilot_admin.http.put_off import PUT_OFFS, PutOffs
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.telemetry.quiet_lines import QUIET_SECONDS
from tests.http.test_guesses import Clock


@pytest.fixture
def nothing_said() -> Iterator[None]:
    PUT_OFFS.forget()
    yield
    PUT_OFFS.forget()


def away() -> DatabaseUnavailable:
    error = DatabaseUnavailable()
    error.__cause__ = db.OperationalError("connection refused by 10.1.2.3")
    error.__cause__.__cause__ = TimeoutError()
    return error


def test_a_flood_of_one_reason_is_a_line_a_minute_with_its_cause_and_how_many_came(caplog):
    clock = Clock()
    put_offs = PutOffs(clock)
    for _ in range(1000):
        put_offs.note(away())
    clock.now += QUIET_SECONDS - 1
    put_offs.note(away())
    first = "requests are put off (database-unavailable): OperationalError <- TimeoutError; 0 more since the line before"
    assert caplog.messages == [first]
    clock.now += 1
    put_offs.note(away())
    put_offs.note(away())
    assert caplog.messages == [first, first.replace("0 more", "1000 more")]
    clock.now += QUIET_SECONDS
    put_offs.note(away())
    assert caplog.messages[2:] == [first.replace("0 more", "1 more")]
    assert {(record.levelname, record.exc_info) for record in caplog.records} == {("WARNING", None)}


def test_reasons_are_told_apart_and_one_without_a_cause_in_its_own_words(caplog):
    put_offs = PutOffs(Clock())
    for code in ("busy", "draining", "busy"):
        put_offs.note(Unavailable(f"Is {code}.", code=code))
    assert caplog.messages == [
        "requests are put off (busy): Is busy.; 0 more since the line before",
        "requests are put off (draining): Is draining.; 0 more since the line before",
    ]


def test_what_breaks_outside_of_a_view_of_the_api_is_said_so_too(nothing_said, caplog):
    for _ in range(2):
        try:
            raise db.OperationalError("gone")
        except db.OperationalError:
            response = server_error(RequestFactory().get("/v1/copilots/a/image"))
        assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert caplog.messages == [
        "requests are put off (unavailable): OperationalError; 0 more since the line before"
    ]
