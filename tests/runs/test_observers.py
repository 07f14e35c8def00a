"""What those who watch the server are told of a run: once, at its end, whatever the end."""

from dataclasses import replace
from decimal import Decimal
import logging

import pytest

from copilot_admin.agent.values.model_call import Finish, Usage
from copilot_admin.agent.values.tracing import ToolTrace
from copilot_admin.errors import ProviderBroke
from copilot_admin.ids import Ids
from copilot_admin.models import CostConfidence, Logging, Outcome
from copilot_admin.pricing.cost import Cost
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.telemetry import finished_runs
from copilot_admin.telemetry.finished_runs import FinishedRun
from protocol.events import MessageChunk
from tests.runs.running import LIVE, RUN, Noted, play, question, said
from tests.telemetry.ended import TABLE

STOP = Finish("stop")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[FinishedRun]:
    """The runs that somebody is told of."""
    runs: list[FinishedRun] = []
    monkeypatch.setattr(finished_runs, "LISTENERS", [runs.append])
    return runs


def test_an_answer_is_told_with_all_that_is_known_of_it(noted, monkeypatch, told):
    ran = ToolTrace(call=TABLE, began=1, ended=2)

    def tells() -> None:
        noted.inputs[0].tracer.record(ran)

    usage = Usage(input_tokens=3, output_tokens=2)
    noted.cost = Cost(Decimal("0.02"), CostConfidence.ESTIMATED)
    play(monkeypatch, noted, [1.5, MessageChunk("Hello"), tells, usage, 0.5, STOP])
    said(question(ids=Ids("chat-1", given=True, run_id=RUN, traceparent="00-1")))
    (run,) = told
    about = {"run_id": RUN, "trace_id": "chat-1", "chat_id": "chat-1", "copilot": "news"}
    asked = {"version": 5, "caller": "key:7", "generation": 3, "traceparent": "00-1"}
    model = {"provider": "local", "provider_kind": "scripted", "model": "small", "usage": usage}
    cost = {"cost": noted.cost.amount, "cost_confidence": noted.cost.confidence}
    end = {"outcome": Outcome.COMPLETED, "ms": 2000, "first_ms": 1500, "facts": (ran,)}
    expected = {**about, **asked, **model, **cost, **end, "keeps_content": True}
    assert {name: getattr(run, name) for name in expected} == expected
    moments = run.times
    assert moments.received <= moments.admitted <= moments.stored <= moments.finishing
    assert moments.finishing <= moments.ended


@pytest.mark.parametrize("logged", [Logging.METADATA, Logging.NOTHING])
def test_no_words_may_be_told_of_what_is_not_kept_whole(noted, monkeypatch, told, logged):
    play(monkeypatch, noted, [MessageChunk("Hello"), STOP])
    said(question(replace(LIVE, logging=logged)))
    assert not told[0].keeps_content


@pytest.mark.parametrize(
    ("script", "outcome", "code"),
    [
        ([ProviderBroke("It broke.")], Outcome.FAILED, "ProviderBroke"),
        ([RuntimeError("a bug")], Outcome.CRASHED, "crash"),
        ([MessageChunk("Hal"), Finish("length")], Outcome.TRUNCATED, "truncated"),
    ],
)
def test_an_end_that_is_none_is_told_with_its_kind(noted, monkeypatch, told, script, outcome, code):
    play(monkeypatch, noted, script)
    said()
    assert [(run.outcome, run.error_code) for run in told] == [(outcome, code)]


def test_watchers_that_break_harm_no_answer(noted, monkeypatch, caplog):
    monkeypatch.setattr(finished_runs, "LISTENERS", [lambda run: 1 / 0])
    play(monkeypatch, noted, [MessageChunk("Hello"), STOP])
    assert b"Hello" in b"".join(piece for _, piece in said())
    errors = [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR]
    assert errors == [f"telemetry of run {RUN} failed"]


def test_a_question_that_the_journal_cannot_take_is_told_once(noted: Noted, monkeypatch, told):
    async def down() -> None:
        raise DatabaseUnavailable

    noted.accepting = down
    play(monkeypatch, noted, [MessageChunk("Hello"), STOP])
    with pytest.raises(DatabaseUnavailable):
        said()
    (run,) = told
    assert (run.outcome, run.error_code) == (Outcome.REFUSED, "database-unavailable")
    assert (run.has_row, noted.ends) == (False, [])
