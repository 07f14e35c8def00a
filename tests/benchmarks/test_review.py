"""The benchmark of the review room fills and measures."""

import os
import subprocess
import sys

import pytest

from copilot_admin.settings import BASE_DIR
from tests.services import DATABASE_URL


@pytest.mark.nightly
def test_a_small_journal_is_filled_and_every_page_measured():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.review", "--messages", "800", "--runs", "1"],
        cwd=BASE_DIR,
        env={**os.environ, "DATABASE_URL": ""},
        capture_output=True,
        text=True,
    )
    assert "sqlite: 800 messages" in done.stdout, done.stderr
    assert "| search: common | 50 |" in done.stdout


@pytest.mark.nightly
@pytest.mark.postgres
def test_a_part_is_filled_and_multiplied_by_postgresql():
    asked = ["--messages", "1600", "--times", "4", "--runs", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.review", *asked],
        cwd=BASE_DIR,
        env={**os.environ, "DATABASE_URL": DATABASE_URL},
        capture_output=True,
        text=True,
    )
    # 43 conversations of four questions, four times, and one of a hundred.
    assert f"postgresql: {2 * (4 * 43 * 4 + 100):,} messages" in done.stdout, done.stderr
    assert "| figures of 90 days | 0 |" in done.stdout
