"""A test that fails among the others is tried by itself, unless that says nothing."""

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

from tests.side_by_side import Command
from tests.unsteady import MOST, Pass, once_more

WITHOUT_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # to import them all takes longest
SETTLED = "def test_settled(): pass\n"
FAILS_ONCE = """
from pathlib import Path
def test_{number}():
    there = Path(__file__).with_name("{number}")
    was_there = there.exists()
    there.touch()
    assert was_there
"""


@pytest.fixture
def run_of(tmp_path):
    """A run of some tests, which has been made and has failed."""

    def make(tests: str) -> Pass:
        (tmp_path / "pytest.ini").write_text("[pytest]")
        (tmp_path / "test_them.py").write_text(tests)
        options = ("-p", "xdist.plugin", "-q")
        cache = ("-o", f"cache_dir={tmp_path / 'cache'}", f"--rootdir={tmp_path}")
        command = [sys.executable, "-m", "pytest", *options, *cache, str(tmp_path)]
        ran = subprocess.run(command, capture_output=True, env={**os.environ, **WITHOUT_PLUGINS})
        assert ran.returncode != 0
        return Pass(Command("some tests", command, WITHOUT_PLUGINS), Path(tmp_path / "cache"))

    return make


@pytest.fixture
def remembered(tmp_path):
    """A run of which pytest has kept what failed, or has not come to that."""

    def make(failed: dict[str, bool] | None) -> Pass:
        file = tmp_path / "v" / "cache" / "lastfailed"
        if failed is not None:
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(failed), encoding="utf-8")
        return Pass(Command("some tests", ["false"], {}), tmp_path)

    return make


def fail_once(number: int) -> str:
    return "".join(FAILS_ONCE.format(number=one) for one in range(number))


def test_what_passes_by_itself_is_named(run_of, capsys):
    assert once_more(run_of(SETTLED + fail_once(MOST)))
    printed = capsys.readouterr().out
    assert "== some tests, by themselves: passed\n" in printed
    names = "".join(f"  test_them.py::test_{one}\n" for one in range(MOST))
    assert printed.endswith(f"UNSTEADY, to be mended:\n{names}")


@pytest.mark.nightly
def test_what_fails_again_has_failed(run_of):
    assert not once_more(run_of(SETTLED + fail_once(1) + "def test_wrong(): assert False\n"))


def test_many_failures_are_no_accident(remembered, capsys):
    assert not once_more(remembered({f"test_them.py::test_{one}": True for one in range(MOST + 1)}))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("failed", [{}, None], ids=["none", "not said"])
def test_a_run_that_broke_has_failed(remembered, failed):
    assert not once_more(remembered(failed))


@pytest.mark.nightly
def test_a_file_that_could_not_be_read_kept_others_from_running(run_of, capsys):
    assert not once_more(run_of("import a_module_that_is_not_there\n"))
    assert capsys.readouterr().out == ""


@pytest.mark.nightly  # that pytest keeps nothing of it; the rest is shown above
def test_a_run_that_breaks_before_its_tests_has_failed(run_of):
    assert not once_more(run_of("raise SystemExit(3)\n"))
