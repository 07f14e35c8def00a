"""What is kept of a large call is made ready beside the writer's thread, which others wait for."""

import asyncio
from concurrent.futures import Future
import threading
from typing import Any

from django import db
from django.utils import timezone
import pytest

from copilot_admin.component_calls import records
from copilot_admin.component_calls.records import BEGINNING, keep
from copilot_admin.errors import Unavailable
from copilot_admin.models import CallStatus, ComponentCall
from copilot_admin.storage.writer import WRITER
from copilot_admin.telemetry.run_log import WARNING_INTERVAL_SECONDS, ThrottledWarnings
from protocol.redaction import redact

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
SIGNED = "https://files.test/a?sig=1 "


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


ALL = 10_000  # addresses, more than are kept


def call(arguments: dict[str, Any]) -> ComponentCall:
    return ComponentCall(
        component="c", version="v", action="run", status=CallStatus.DONE, ms=1,
        error=SIGNED, arguments=arguments, created_at=timezone.now(),
    )  # fmt: skip


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those on which arguments were redacted."""
    found: list[str] = []

    def watched(value: Any) -> Any:
        found.append(threading.current_thread().name)
        return redact(value)

    monkeypatch.setattr(records, "redact", watched)
    return found


def kept(arguments: dict[str, Any]) -> ComponentCall:
    async def in_a_loop() -> None:
        keep(call(arguments))

    asyncio.run(in_a_loop())  # waits for its threads
    WRITER.submit(lambda: None).result()
    return ComponentCall.objects.get()


@pytest.mark.parametrize(
    "arguments", [{"text": SIGNED * ALL}, {"rows": [SIGNED] * ALL}, {"row": {str(n): 1 for n in range(ALL)}}]
)  # fmt: skip
def test_of_a_large_call_neither_the_loop_nor_the_writer_makes_it_ready(threads, arguments):
    row = kept(arguments)
    assert len(row.arguments) < BEGINNING + 10 and "sig=" not in row.arguments
    (thread,) = threads
    assert thread != threading.current_thread().name and "journal" not in thread


def test_of_a_small_call_all_is_kept_without_signatures(threads):
    row = kept({"text": SIGNED, "token": "t"})
    assert (row.arguments, row.error) == (
        {"text": "https://files.test/a "},
        "https://files.test/a ",
    )
    assert threads == [threading.current_thread().name]


class Away:
    """A writer whose queue is full, or whose database has gone."""

    def __init__(self, error: Exception, *, at_once: bool) -> None:
        self._error = error
        self._at_once = at_once

    def submit(self, job: Any) -> Future[None]:
        if self._at_once:
            raise self._error
        done = Future[None]()
        done.set_exception(self._error)
        return done


@pytest.mark.parametrize(
    ("error", "at_once", "told"),
    [
        (Unavailable("The queue is full."), True, "The queue is full."),
        (db.OperationalError("no route to 10.1.2.3"), False, "OperationalError"),
    ],
)
def test_calls_that_are_not_recorded_are_a_line_a_minute_with_how_many_there_were(
    monkeypatch, caplog, error: Exception, at_once: bool, told: str
):
    clock = Clock()
    monkeypatch.setattr(records, "UNRECORDED", ThrottledWarnings(records.logger, clock))
    monkeypatch.setattr(records, "WRITER", Away(error, at_once=at_once))
    for _ in range(1000):
        keep(call({}))
    clock.now += WARNING_INTERVAL_SECONDS
    keep(call({}))
    assert caplog.messages == [
        f"a call of c was not recorded: {told}; 0 more since the line before",
        f"a call of c was not recorded: {told}; 999 more since the line before",
    ]
    assert {(record.levelname, record.exc_info) for record in caplog.records} == {("WARNING", None)}


def test_a_call_that_the_database_refuses_is_an_error_with_what_it_says(monkeypatch, caplog):
    error = db.IntegrityError("no such copilot")
    monkeypatch.setattr(records, "WRITER", Away(error, at_once=False))
    for _ in range(2):
        keep(call({}))
    assert [(one.levelname, one.exc_info and one.exc_info[1]) for one in caplog.records] == [
        ("ERROR", error)
    ] * 2
