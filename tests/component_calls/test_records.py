"""Records of component calls are prepared in a thread and stored by the writer."""

import asyncio
from concurrent.futures import Future
import threading
from typing import Any

from django import db
from django.utils import timezone
import pytest

from copilot_admin.component_calls import records
from copilot_admin.component_calls.records import BEGINNING, record_call
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.errors import Unavailable
from copilot_admin.models import CallStatus, ComponentCall
from copilot_admin.storage.writer import WRITER
from copilot_admin.telemetry.finished_runs import ThrottledWarnings
from protocol.redaction import redact

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
SIGNED = "https://files.test/a?sig=1 "


def record(arguments: dict[str, Any], *, times: int = 1, user: AskingUser | None = None) -> None:
    async def in_a_loop() -> None:
        for _ in range(times):
            row = ComponentCall(
                component="c", version="v", action="run", status=CallStatus.DONE, ms=1,
                error=SIGNED, arguments=arguments, created_at=timezone.now(),
            )  # fmt: skip
            record_call(row, user=user)

    asyncio.run(in_a_loop())  # waits for its threads
    WRITER.submit(lambda: None).result()


def test_a_call_belongs_to_its_user():
    record({}, user=AskingUser(id="ada"))
    record({})
    users = ComponentCall.objects.order_by("pk").values_list("user__identifier", flat=True)
    assert list(users) == ["ada", None]


def test_a_record_has_no_signatures_and_of_long_arguments_the_beginning(monkeypatch):
    threads: list[str] = []

    def watched(value: Any) -> Any:
        threads.append(threading.current_thread().name)
        return redact(value)

    monkeypatch.setattr(records, "redact", watched)
    record({"text": SIGNED, "token": "t"})
    record({"rows": [SIGNED] * 10_000})
    small, large = ComponentCall.objects.order_by("pk")
    assert (small.arguments, small.error) == (
        {"text": "https://files.test/a "},
        "https://files.test/a ",
    )
    assert len(large.arguments) < BEGINNING + 10 and "sig=" not in large.arguments
    for thread in threads:  # neither the event loop nor the writer
        assert thread != threading.current_thread().name and "journal" not in thread


class Away:
    """A writer whose queue is full, or whose database is away."""

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
    ("error", "at_once", "lines"),
    [
        (Unavailable("The queue is full."), True, [("WARNING", "recorded: The queue is full.")]),
        (db.OperationalError("no route"), False, [("WARNING", "recorded: OperationalError")]),
    ],
)
def test_a_call_that_cannot_be_recorded_is_logged(
    monkeypatch, caplog, error: Exception, at_once: bool, lines: list[tuple[str, str]]
):
    monkeypatch.setattr(records, "UNRECORDED", ThrottledWarnings(records.logger))
    monkeypatch.setattr(records, "WRITER", Away(error, at_once=at_once))
    record({}, times=3)
    assert [one.levelname for one in caplog.records] == [level for level, _ in lines]
    assert all(words in one for one, (_, words) in zip(caplog.messages, lines, strict=True))
