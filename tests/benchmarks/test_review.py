"""The benchmark of the review room fills and measures."""

import os
import subprocess
import sys

import pytest

from copilot_admin.settings import BASE_DIR


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
