"""The comparison runs from start to end; its figures count only on a quiet machine."""

import pytest

from benchmarks.__main__ import main
from benchmarks.floors import floors
from benchmarks.streaming import Measured
from benchmarks.table import table


@pytest.mark.nightly
def test_the_comparison_prints_a_row_for_each_server_and_each_floor(capsys):
    assert main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first_words = [line.split("  ")[0] for line in lines]
    for name in ("pass-through", "example stack", "ours"):
        assert name in first_words
    assert sum(line.startswith(("PASS", "FAIL")) for line in lines) == 4


def measured(cpu_us: float, *, first_p50_ms: float = 10, peak_mb: float = 300) -> Measured:
    return Measured(
        cpu_us=cpu_us, first_p50_ms=first_p50_ms, first_p99_ms=50, peak_mb=peak_mb, noise=0
    )


@pytest.mark.parametrize(
    ("ours", "kept"),
    [
        (measured(50), [True, True, True, True]),
        (measured(50.1), [False, False, True, True]),
        (measured(50, first_p50_ms=10.1), [True, True, False, True]),
        (measured(50, peak_mb=300.1), [True, True, True, False]),
    ],
)
def test_a_floor_is_kept_up_to_its_bound(ours, kept):
    results = {"pass-through": measured(20), "example stack": measured(200), "ours": ours}
    assert [floor.kept for floor in floors(results)] == kept


def test_a_table_aligns_words_left_and_figures_right():
    assert table([("server", "us"), ("ours", "7"), ("a", "100")]) == (
        "server   us\nours      7\na       100"
    )
