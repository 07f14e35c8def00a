"""The benchmark of exports fills and measures."""

import os
import subprocess
import sys

import pytest

from copilot_admin.settings import BASE_DIR


@pytest.mark.nightly
def test_a_small_journal_is_exported_in_every_format():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.export", "--turns", "100"],
        cwd=BASE_DIR,
        env={**os.environ, "DATABASE_URL": ""},
        capture_output=True,
        text=True,
    )
    assert "100 questions" in done.stdout, done.stderr
    for name in ("csv", "jsonl", "md", "html"):
        assert f"| {name} | 0 |" in done.stdout
