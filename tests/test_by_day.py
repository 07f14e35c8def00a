"""Of a grid some cases are tried by day, the same each day, and all by night."""

import subprocess
import sys

GRIDS = """
import pytest

@pytest.mark.by_day(3)
@pytest.mark.parametrize("second", [pytest.param("x", marks=pytest.mark.nightly), "y", "z"])
@pytest.mark.parametrize("first", range(9))
def test_two(first, second): pass

@pytest.mark.by_day(3)
@pytest.mark.parametrize("one", range(2))
def test_few(one): pass

class TestInAClass:
    @pytest.mark.by_day(1)
    @pytest.mark.parametrize("one", range(5))
    def test_one(self, one): pass

@pytest.mark.parametrize("one", range(4))
def test_all(one): pass
"""


def test_by_day_so_many_as_the_mark_says_and_by_night_all(tmp_path):
    day, again, night = (
        _names(tmp_path, "not nightly"),
        _names(tmp_path, "not nightly"),
        _names(tmp_path),
    )
    assert _counted(day) == {
        "test_two": 3,
        "test_few": 2,
        "TestInAClass::test_one": 1,
        "test_all": 4,
    }
    assert day == again
    assert _counted(night) == {
        "test_two": 27,
        "test_few": 2,
        "TestInAClass::test_one": 5,
        "test_all": 4,
    }


def test_a_case_more_changes_no_more_than_one(tmp_path):
    before = set(_names(tmp_path, "not nightly"))
    after = set(_names(tmp_path, "not nightly", GRIDS.replace("range(9)", "range(10)")))
    assert len(before - after) == len(after - before) <= 2  # it has a `y` and a `z`


def _names(folder, marks="", grids=GRIDS):
    (folder / "test_grids.py").write_text(grids, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = by_day\n nightly\n", encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.by_day", "-p", "no:django"),
            *("-p", "no:randomly", "--collect-only", "-q", "-m", marks, "--rootdir", str(folder)),
            str(folder / "test_grids.py"),
        ],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def _counted(names):
    tests = [name.partition("[")[0] for name in names]
    return {test: tests.count(test) for test in tests}
