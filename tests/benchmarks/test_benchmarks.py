"""The benchmarks run from start to end; their figures count only on a quiet machine."""

import json
from random import Random
import subprocess
import sys

import pytest

from benchmarks.__main__ import main
from benchmarks.kill import kill_repeatedly
from benchmarks.limits import chunk_limits, format_table, page_limits, question_limits
from benchmarks.script import Script
from benchmarks.servers import Deployment
from benchmarks.streaming import Measurement
from copilot_admin.settings import BASE_DIR


def measured(cpu_us: float) -> Measurement:
    return Measurement(cpu_us=cpu_us, first_p50_ms=1, first_p99_ms=2, peak_mb=3, noise=0)


@pytest.mark.parametrize(
    ("ours", "met"), [(16, [True, True]), (17, [False, True]), (26, [False, False])]
)
def test_a_chunk_is_compared_with_both_peers(ours, met):
    results = {
        "pass-through": measured(10), "example stack": measured(100), "ours": measured(ours)
    }  # fmt: skip
    assert [limit.is_met for limit in chunk_limits(results)] == met


@pytest.mark.parametrize(
    ("ours", "met"), [(8, [True, True]), (8.1, [False, True]), (9, [False, False])]
)
def test_a_short_question_is_compared_with_both_peers(ours, met):
    costs = {"pass-through": 1, "example stack": 24, "ours": ours}
    assert [limit.is_met for limit in question_limits(costs)] == met


def test_pages_and_disk_have_limits():
    limits = page_limits({"the list": 200, "a search": 201}, turn_bytes=12_001)
    assert [limit.is_met for limit in limits] == [True, False, False]
    assert str(limits[1]) == "FAIL  server ms of a search: 201.00 (at most 200)"


def test_a_chat_repeats_earlier_questions_and_answers():
    first, second = Script(chunks=1), Script(chunks=2)
    body = json.loads(second.body_after([first]))
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        ("human", first.question),
        ("ai", first.text),
        ("human", second.question),
    ]
    assert Script.find(json.dumps(body).encode()) == second


def test_a_table_is_aligned():
    table = format_table([("server", "us"), ("ours", "7"), ("a", "100")])
    assert table == "server   us\nours      7\na       100"


@pytest.mark.nightly
def test_servers_are_compared(capsys):
    assert main(["--quick", "--only", "streaming"]) == 0
    assert main(["--quick", "--only", "short"]) == 0
    assert sum(line[:4] in ("PASS", "FAIL") for line in capsys.readouterr().out.splitlines()) == 4


@pytest.mark.nightly
def test_pages_are_measured():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--only", "pages"],
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "bytes of a turn on disk" in done.stdout


@pytest.mark.nightly
def test_a_killed_server_loses_no_finished_run():
    (kill,) = kill_repeatedly(times=1, streams=20, random=Random(1), deployment=Deployment())
    assert kill.problems == ()
    assert kill.finished
    assert kill.cut
