"""Runs the tests on SQLite, and those that are about a database on PostgreSQL too.

`python -m tests` is `make test`. With `--enforce` too little coverage is a failure. With
`--nightly` nothing is left out: what is marked `nightly`, many more examples of Hypothesis, and on
PostgreSQL all that has a database.
"""

import os
from pathlib import Path
import subprocess
import sys
import tempfile

from tests.ready_tables import TABLES_FOLDER
from tests.services import DATABASE_URL, missing
from tests.side_by_side import Command, run

MOST_WORKERS = 4  # more start-ups than they save on a suite of this size
WITHOUT_DATABASE = ("protocol", "engine", "browser", "benchmarks", "mutants")
# To measure takes a third of the time. These go ways that the tests of the rooms have measured, or
# compare costs, or run the product in other processes.
NOT_MEASURED = tuple(
    f"tests/{name}"
    for name in ("browser", "docs", "benchmarks", "mutants", "engine/test_straight_lines.py")
)
FLOORS = {"protocol/*": 95, "copilot_admin/engine/*": 95, "": 90}  # per cent, with branches
COVERAGE = (sys.executable, "-m", "coverage")
ALL_OF_IT = ("--hypothesis-profile", "nightly")


def main(arguments: list[str]) -> int:
    """Runs everything; returns the status of the process."""
    nightly = "--nightly" in arguments
    subprocess.run([*COVERAGE, "erase"], check=True)
    without = missing("postgres")
    if without:
        print(f"PostgreSQL tests: not run. {without}.", flush=True)
    unmeasured, measured = _on_sqlite(nightly)
    # One after the other: a browser that has to wait for four processes on two cores gives up.
    beside = [*([] if without else [_on_postgres(nightly=nightly)]), unmeasured]
    with tempfile.TemporaryDirectory() as tables:
        os.environ[TABLES_FOLDER] = tables  # every process of the passes finds it
        failed = run(beside) + run([measured])
    if without and os.environ.get("REQUIRE_ALL"):
        failed.append("tests on PostgreSQL")
    low = [_coverage(pattern, floor) for pattern, floor in FLOORS.items()]
    if "--enforce" in arguments and any(low):
        failed.append("coverage")
    print(f"FAILED: {', '.join(failed)}" if failed else "All tests passed.")
    return int(bool(failed))


def _on_postgres(*, nightly: bool) -> Command:
    if nightly:
        rooms = [f"--ignore=tests/{room}" for room in WITHOUT_DATABASE]
        options = [*ALL_OF_IT, *rooms, *_several()]
    else:
        options = ["-m", "database and not nightly", *_about_databases()]
    return _pytest("tests on PostgreSQL", *options, database_url=DATABASE_URL)


def _on_sqlite(nightly: bool) -> tuple[Command, Command]:
    """Those that nothing is measured of, and all the others."""
    options = ALL_OF_IT if nightly else ("-m", "not nightly")
    measured = [*options, *(f"--ignore={path}" for path in NOT_MEASURED), "--cov", "--cov-report="]
    return (
        _pytest("tests on SQLite that measure no coverage", *options, *NOT_MEASURED),
        _pytest("tests on SQLite", *measured, *_several()),
    )


def _several() -> list[str]:
    """So many workers, of which none waits while another has tests left."""
    return ["-n", str(min(os.cpu_count() or 1, MOST_WORKERS)), "--dist", "worksteal"]


def _about_databases() -> list[str]:
    """The files with such tests: to collect all the others takes as long as to run these."""
    files = sorted(Path("tests").rglob("test_*.py"))
    return [str(file) for file in files if "mark.database" in file.read_text(encoding="utf-8")]


def _pytest(name: str, *options: str, database_url: str = "") -> Command:
    command = [sys.executable, "-m", "pytest", *options, "-q"]
    return Command(name, command, {"DATABASE_URL": database_url})


def _coverage(pattern: str, floor: int) -> bool:
    """Prints the coverage of a part; returns whether it is below its floor."""
    only = [f"--include={pattern}"] if pattern else []
    report = subprocess.run(
        [*COVERAGE, "report", "--format=total", "--precision=1", *only],
        capture_output=True,
        text=True,
        check=False,
    )
    measured = float(report.stdout or 0)
    print(f"coverage of {pattern or 'everything'}: {measured} % (floor {floor} %)")
    return measured < floor


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
