"""A question whose body was too large leaves a run behind, if its caller may ask at all."""

import asyncio
from datetime import datetime
from typing import Any

from django import db
import pytest

from copilot_admin.copilots.callers import Caller
from copilot_admin.errors import BodyTooLarge, InvalidKey, NotFound
from copilot_admin.http.guesses import GUESSES, MOST_GUESSES
from copilot_admin.ids import Ids
from copilot_admin.models import Logging
from copilot_admin.runs import oversized_bodies
from copilot_admin.runs.oversized_bodies import record_oversized
from copilot_admin.telemetry import watchers
from copilot_admin.telemetry.ended_run import EndedRun
from protocol.generations import Generation
from tests.http.asgi_client import scope
from tests.http.test_edge import QUERY
from tests.runs.running import LIVE, RUN, Noted

ERROR = BodyTooLarge("Send less.")


class Door:
    """Lets a caller in, or says why not."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.refuses: Exception | None = None

    async def run(self, job: Any) -> Any:
        return job()

    def admit(self, slug: str, **given: Any) -> Any:
        self.asked.append((slug, given))
        if self.refuses:
            raise self.refuses
        return LIVE, Caller(principal="key:7", key_id=7)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    made = Noted()
    monkeypatch.setattr(oversized_bodies, "JOURNAL", made)
    return made


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Door:
    made = Door()
    monkeypatch.setattr(oversized_bodies, "READER", made)
    monkeypatch.setattr(oversized_bodies, "admit", made.admit)
    return made


def record(path: str = QUERY, **more: Any) -> None:
    request = scope(path, **{"method": "POST", "headers": {"X-API-Key": "cak_é"}, **more})
    request["copilot_admin.ids"] = Ids("chat-1", given=True, run_id=RUN)
    asyncio.run(record_oversized(request, ERROR))


def test_the_refusal_is_kept_with_who_asked_whom(noted, door):
    record()
    given = {"key": "cak_Ã©", "user": None}  # bytes of headers are latin-1
    assert door.asked == [("news", given)]
    (refusal,) = noted.refusals
    values = {name: getattr(refusal, name) for name in refusal.__dataclass_fields__}
    assert isinstance(values.pop("started_at"), datetime)
    assert values == {
        "run_id": RUN,
        "copilot_id": 3,
        "version_id": 4,
        "version_number": 5,
        "logging": Logging.EVERYTHING,
        "principal": "key:7",
        "error": "Send less.",
        "error_code": "body-too-large",
        "user": None,
        "provider": "",
        "model": "",
        "generation": Generation.THREE,
        "ms": 0,
    }


@pytest.mark.parametrize(
    "more", [{"method": "PUT"}, {"path": "/v1/copilots/news/feedback"}], ids=["method", "address"]
)
def test_only_a_question_is_one(noted, door, more):
    record(**more)
    assert (door.asked, noted.refusals) == ([], [])


@pytest.mark.parametrize("refuses", [NotFound("No copilot."), db.OperationalError("away")])
def test_whoever_may_not_ask_leaves_no_trace_but_that_he_was_refused(
    noted, door, refuses, monkeypatch
):
    told: list[EndedRun] = []
    monkeypatch.setattr(watchers, "WATCHERS", [told.append])
    door.refuses = refuses
    record()
    assert (len(door.asked), noted.refusals) == (1, [])
    assert [(run.copilot, run.error_code, run.has_row) for run in told] == [
        ("", "body-too-large", False)
    ]


def test_a_wrong_key_before_a_large_body_is_a_guess_as_any_other(noted, door):
    door.refuses = NotFound("No copilot.")
    for _ in range(MOST_GUESSES):
        record(client=("192.0.2.1", 5))
    assert not GUESSES.slow("192.0.2.1")
    door.refuses = InvalidKey("Ask for a new one.")
    for _ in range(MOST_GUESSES):
        record(client=("192.0.2.1", 5))
    assert GUESSES.slow("192.0.2.1")
    del door.asked[:]
    record(client=("192.0.2.1", 5))
    assert door.asked == []
