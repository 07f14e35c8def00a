"""Records of component calls are prepared in a thread and stored by the writer."""

import asyncio
from concurrent.futures import Future
from typing import Any

from django import db
from django.utils import timezone
import pytest

from copilot_admin.component_calls import call
from copilot_admin.component_calls.call import BEGINNING, record_call
from copilot_admin.config.logs import ThrottledWarnings
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.errors import Unavailable
from copilot_admin.models import CallStatus, ComponentCall
from copilot_admin.storage.writer import WRITER

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


def test_a_record_has_no_signatures_and_of_long_arguments_the_beginning():
    record({"text": SIGNED, "token": "t"})
    record({"rows": [SIGNED] * 10_000})
    small, large = ComponentCall.objects.order_by("pk")
    text = "https://files.test/a "
    assert (small.arguments, small.error) == ({"text": text}, text)
    assert len(large.arguments) < BEGINNING + 10 and "sig=" not in large.arguments


class Away:
    """A writer whose queue is full, or whose database is away."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def submit(self, job: Any) -> Future[None]:
        if isinstance(self._error, Unavailable):
            raise self._error
        done = Future[None]()
        done.set_exception(self._error)
        return done


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Unavailable("The queue is full."), "recorded: The queue is full."),
        (db.OperationalError("no route"), "recorded: OperationalError"),
    ],
)
def test_a_call_that_cannot_be_recorded_is_logged_once(monkeypatch, caplog, error, words):
    monkeypatch.setattr(call, "UNRECORDED", ThrottledWarnings(call.logger))
    monkeypatch.setattr(call, "WRITER", Away(error))
    record({}, times=3)
    [message] = caplog.messages
    assert words in message
