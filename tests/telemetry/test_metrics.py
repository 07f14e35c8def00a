"""Metrics of runs and requests, and the log line of each run."""

from datetime import UTC, datetime
from decimal import Decimal
import json
import logging
import os
from pathlib import Path
import subprocess
import sys

import pytest

from copilot_admin.config.logs import FORMATTERS, LogFormat
from copilot_admin.errors import Unavailable
from copilot_admin.models import CostConfidence, Outcome
from copilot_admin.settings import BASE_DIR
from copilot_admin.telemetry import finished_runs
from copilot_admin.telemetry.finished_runs import FinishedRun, RunTimes, log_fields, log_run
from copilot_admin.telemetry.metrics import ServerMetrics
from tests.telemetry.ended import RUN, asked, client_call, ended_run, ran


def lines(figures: ServerMetrics) -> dict[str, float]:
    """Every sample by its name and labels, without when it was made and what is nothing."""
    text, content_type = figures.format_text("text/plain")
    assert content_type.startswith("text/plain")
    samples = [line.rpartition(" ") for line in text.decode().splitlines() if line[0] != "#"]
    return {
        name: float(value)
        for name, _, value in samples
        if float(value) and "_created" not in name and "_bucket" not in name
    }


def test_a_run_is_counted_once_in_each_figure():
    figures = ServerMetrics()
    figures.count_run(ended_run(facts=(asked(), ran(), asked(began=6, ended=9))))
    found = lines(figures)
    wanted = {
        'copilot_runs_total{copilot="news",outcome="completed"}': 1,
        'copilot_run_seconds_count{outcome="completed"}': 1,
        'copilot_run_seconds_sum{outcome="completed"}': 9,
        'copilot_first_token_seconds_count{copilot="news"}': 1,
        'copilot_first_token_seconds_sum{copilot="news"}': 1.5,
        'copilot_tokens_total{copilot="news",kind="input"}': 120,
        'copilot_tokens_total{copilot="news",kind="output"}': 30,
        'copilot_model_call_seconds_count{provider="local"}': 2,
        'copilot_model_call_seconds_sum{provider="local"}': 5,
        'copilot_journal_seconds_count{step="accept"}': 1,
        'copilot_journal_seconds_sum{step="accept"}': 1,
        'copilot_journal_seconds_count{step="finish"}': 1,
        'copilot_journal_seconds_sum{step="finish"}': 1,
    }
    assert found | wanted == found  # there may be figures that are newer


def test_every_try_of_a_provider_that_failed_is_an_error_of_it():
    figures = ServerMetrics()
    failures = ("ProviderUnavailable", "ProviderUnavailable", "ProviderTimeout")
    figures.count_run(
        ended_run(outcome=Outcome.FAILED, facts=(asked(failures=failures, failed=True),))
    )
    found = lines(figures)
    name = "copilot_provider_errors_total"
    assert found[f'{name}{{error="ProviderUnavailable",provider="local"}}'] == 2
    assert found[f'{name}{{error="ProviderTimeout",provider="local"}}'] == 1
    assert found['copilot_runs_total{copilot="news",outcome="failed"}'] == 1


def test_a_refused_question_has_no_times():
    figures = ServerMetrics()
    figures.count_run(ended_run(outcome=Outcome.REFUSED, usage=None, times=RunTimes(received=0)))
    figures.count_rejection(Unavailable("Later.", code="draining"))
    found = lines(figures)
    wanted = {
        'copilot_runs_total{copilot="news",outcome="refused"}': 1,
        'copilot_refusals_total{code="draining"}': 1,
    }
    assert found | wanted == found
    assert not [name for name in found if "_seconds" in name]


def test_a_rejected_request_without_a_row_is_counted_by_its_code_only():
    figures = ServerMetrics()
    for copilot in ("", "news"):
        figures.count_run(ended_run(copilot=copilot, outcome=Outcome.REFUSED, has_row=False))
        figures.count_rejection(Unavailable("Later.", code="draining"))
    assert lines(figures) == {'copilot_refusals_total{code="draining"}': 2}


def test_a_trial_is_no_use_of_a_copilot_but_its_model_was_asked():
    figures = ServerMetrics()
    figures.count_run(ended_run(is_trial=True, facts=(asked(),)))
    names = {name.partition("{")[0] for name in lines(figures)}
    assert names == {
        "copilot_model_call_seconds_count",
        "copilot_model_call_seconds_sum",
        "copilot_journal_seconds_count",
        "copilot_journal_seconds_sum",
    }


COUNTING = """
import django, os, sys
django.setup()
dead = os.fork()
from copilot_admin.telemetry.metrics import ServerMetrics
figures = ServerMetrics()
figures.count("http_requests", "GET", "/healthz", "200")
figures.set_gauges({"streams": {"": 2}, "spool_files": {"": 5}})
if not dead:
    os._exit(0)
os.waitpid(dead, 0)
from copilot_admin.server.serve import drop_gauges
print(figures.format_text("text/plain")[0].decode())
drop_gauges(dead)
print("----")
print(figures.format_text("text/plain")[0].decode())
"""


def counted(folder: Path) -> str:
    """Metrics of two processes in a folder, before and after the dead one is dropped."""
    environment = {
        **os.environ,
        "PROMETHEUS_MULTIPROC_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    return subprocess.run(
        [sys.executable, "-c", COUNTING],
        env=environment,
        cwd=BASE_DIR,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.nightly  # three processes of a library's own counting
def test_processes_count_together_and_the_dead_have_no_streams(tmp_path):
    before, after = counted(tmp_path).split("----")
    requests = 'copilot_http_requests_total{method="GET",path="/healthz",status="200"} 2.0'
    assert requests in before
    assert requests in after
    assert "copilot_streams 4.0" in before
    assert "copilot_streams 2.0" in after
    assert "copilot_spool_files 5.0" in before


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
