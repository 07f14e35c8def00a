"""The comparison runs from start to end; its figures count only on a quiet machine."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.floors import floors
from benchmarks.script import Script
from benchmarks.streaming import Measured
from benchmarks.table import table


@pytest.mark.nightly
def test_the_comparison_prints_a_row_for_each_server_and_each_floor(capsys):
    assert main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first_words = [line.split("  ")[0] for line in lines]
    for name in ("pass-through", "example stack", "ours"):
        assert name in first_words
    assert sum(line.startswith(("PASS", "FAIL")) for line in lines) == 5


def measured(cpu_us: float, *, first_p50_ms: float = 10, peak_mb: float = 300) -> Measured:
    return Measured(
        cpu_us=cpu_us,
        first_p50_ms=first_p50_ms,
        first_p99_ms=50,
        peak_mb=peak_mb,
        noise=0,
    )


@pytest.mark.parametrize(
    ("ours", "question_ms", "kept"),
    [
        (measured(50), 4, [True, True, True, True, True]),
        (measured(50.1), 4, [False, False, True, True, True]),
        (measured(50), 4.1, [True, True, False, True, True]),
        (measured(50, first_p50_ms=10.1), 4, [True, True, True, False, True]),
        (measured(50, peak_mb=300.1), 4, [True, True, True, True, False]),
    ],
)
def test_a_floor_is_kept_up_to_its_bound(ours, question_ms, kept):
    results = {"pass-through": measured(20), "example stack": measured(200), "ours": ours}
    costs = {"pass-through": 1, "example stack": 9, "ours": question_ms}
    assert [floor.kept for floor in floors(results, costs)] == kept


@pytest.mark.nightly
def test_only_short_questions_can_be_asked(capsys):
    assert main(["--quick", "--only", "short"]) == 0
    *_, head, bare, stack, ours, _, verdict = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "server"
    assert [bare.split()[-1], stack.split("  ")[0], ours.split()[0]] == [
        "1.0",
        "example stack",
        "ours",
    ]
    assert "CPU a short question" in verdict


def test_a_chat_repeats_what_was_said_and_ends_with_the_question():
    first, second = Script(chunks=1), Script(chunks=2)
    body = json.loads(second.body_after([first, first]))
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        ("human", first.question),
        ("ai", first.text),
        ("human", first.question),
        ("ai", first.text),
        ("human", second.question),
    ]
    assert Script.find(json.dumps(body).encode()) == second


def test_a_table_aligns_words_left_and_figures_right():
    assert table([("server", "us"), ("ours", "7"), ("a", "100")]) == (
        "server   us\nours      7\na       100"
    )
