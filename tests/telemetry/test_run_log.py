"""One line of the log for each run: every field that is known, and no words of anybody."""

from datetime import UTC, datetime
from decimal import Decimal
import json
import logging

import pytest

from copilot_admin.config.logs import FORMATTERS, LogFormat
from copilot_admin.models import CostConfidence, Outcome
from copilot_admin.telemetry import finished_runs
from copilot_admin.telemetry.finished_runs import FinishedRun, RunTimes, log_fields, log_run
from tests.telemetry.ended import RUN, asked, client_call, ended_run, ran


def test_the_line_says_everything_that_is_known():
    run = ended_run(facts=(asked(), ran(), asked()), client_calls=(client_call(),))
    line = log_fields(run)
    wanted = {
        "run": str(RUN),
        "trace": "chat-1",
        "copilot": "news",
        "version": 5,
        "caller": "key:7",
        "outcome": "completed",
        "started": "2026-03-02T09:30:00.000+00:00",
        "ms": 9000,
        "first_ms": 1500,
        "journal_ms": 1000,
        "generation": 3,
        "provider": "local",
        "model": "small",
        "model_calls": 2,
        "tools": 1,
        "client_calls": 1,
        "input_tokens": 120,
        "cached_tokens": 20,
        "output_tokens": 30,
        "reasoning_tokens": 5,
        "tokens_from": "provider",
        "cost": 0.0123,
        "cost_confidence": "exact",
    }
    assert line | wanted == line  # which may have fields that are newer


def test_what_a_run_cost_is_never_0_because_nobody_knows():
    run = ended_run(cost=None, cost_confidence=CostConfidence.UNKNOWN)
    told = {name: value for name, value in log_fields(run).items() if name.startswith("cost")}
    assert told == {"cost_confidence": "unknown"}
    free = ended_run(cost=Decimal(0))
    assert log_fields(free)["cost"] == 0.0


def test_unknown_values_are_left_out():
    run = FinishedRun(
        run_id=RUN,
        trace_id="t",
        outcome=Outcome.REFUSED,
        error_code="unauthorized",
        started_at=datetime(2026, 3, 2, tzinfo=UTC),
        ms=0,
        times=RunTimes(received=0, ended=0),
    )
    assert log_fields(run) == {
        "run": str(RUN),
        "trace": "t",
        "outcome": "refused",
        "error": "unauthorized",
        "started": "2026-03-02T00:00:00.000+00:00",
        "ms": 0,
    }


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_it_is_one_line_of_json_that_nobody_can_forge(log_format, caplog):
    run = ended_run(model="a\r\n2026-01-01 INFO forged\u2028", facts=(asked(texts=["secret"]),))
    with caplog.at_level(logging.INFO, logger="copilot_admin.runs"):
        log_run(run)
    (record,) = caplog.records
    formatter = FORMATTERS[log_format]("%(levelname)s %(name)s %(message)s")
    (line,) = formatter.format(record).splitlines()
    data = json.loads(line.removeprefix("INFO copilot_admin.runs "))
    assert {name: data[name] for name in log_fields(run)} == log_fields(run)
    assert "secret" not in line


def test_a_watcher_that_breaks_keeps_the_others_informed(monkeypatch, caplog):
    told = []

    def breaks(run: FinishedRun) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(finished_runs, "LISTENERS", [breaks, told.append])
    run = ended_run()
    finished_runs.notify(run)
    assert told == [run]
    assert caplog.messages == [f"telemetry of run {RUN} failed"]
