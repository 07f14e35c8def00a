"""What is reported and charged of a run: once, at its end, whatever the end."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
import logging

import pytest

from copilot_admin.agent.values.model_call import Finish, Usage
from copilot_admin.agent.values.tracing import ToolTrace
from copilot_admin.errors import ProviderBroke
from copilot_admin.ids import Ids
from copilot_admin.limits.admission import Admission
from copilot_admin.limits.rules import LimitSubject, build_rules
from copilot_admin.limits.usage import Usage as LimitUsage
from copilot_admin.limits.usage import get_budgets
from copilot_admin.models import CostConfidence, LimitScope, Logging, Outcome
from copilot_admin.pricing.cost import UNKNOWN_COST, ZERO_COST, Cost, RunCost
from copilot_admin.runs import open_run as opening
from copilot_admin.runs import run as run_task
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


USED = (Usage(input_tokens=5, output_tokens=2), Usage(input_tokens=1, model="small"))
SCRIPT = [MessageChunk("Hello"), *USED, Finish("stop")]
TWO_DOLLARS = Cost(Decimal(2), CostConfidence.EXACT)


@dataclass(slots=True)
class Charged(Admission):
    """An admission that keeps what it is charged."""

    charges: list[LimitUsage | None] = field(default_factory=list)

    async def end(self, usage: LimitUsage | None = None) -> None:
        if self.is_open:
            self.charges.append(usage)
            self.slots, self.budgets = (), ()


@pytest.fixture
def charged(noted, monkeypatch):
    """Charges of an answer: what is limited, what the store calculated, what the database knows."""

    def answer(limits, *, cost, calculated=None):
        class Reader:
            async def run(self, job):
                if calculated is None:
                    raise DatabaseUnavailable
                return RunCost(calculated)

        rules = build_rules(LimitSubject(LimitScope.SERVER), limits)
        budgets = get_budgets(rules, datetime(2026, 1, 1, tzinfo=UTC))
        admission = Charged(id="a", budgets=budgets)

        async def admit(*_, **__):
            return admission

        monkeypatch.setattr(run_task, "READER", Reader())
        monkeypatch.setattr(opening, "admit_request", admit)
        play(monkeypatch, noted, SCRIPT)
        noted.cost = cost
        said()
        return admission.charges

    return answer


@pytest.mark.parametrize(
    ("limits", "cost", "calculated", "usage"),
    [
        ({"usd_per_day": 1}, TWO_DOLLARS, None, LimitUsage(nano_usd=2 * 10**9)),
        ({"usd_per_day": 1}, ZERO_COST, None, LimitUsage()),
        ({"usd_per_day": 1}, UNKNOWN_COST, None, LimitUsage(unpriced=1)),
        # The store could not calculate it: the run is in the spool.
        ({"usd_per_day": 1}, None, TWO_DOLLARS, LimitUsage(nano_usd=2 * 10**9)),
        ({"usd_per_day": 1}, None, None, LimitUsage(unpriced=1)),
        ({"tokens_per_day": 1}, None, TWO_DOLLARS, LimitUsage(unpriced=1)),
    ],
)
def test_the_tokens_of_all_calls_and_the_cost_are_charged(charged, limits, cost, calculated, usage):
    assert charged(limits, cost=cost, calculated=calculated) == [replace(usage, tokens=8)]
