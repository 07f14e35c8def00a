"""Runs the tests on SQLite, and those that are about a database on PostgreSQL too.

`python -m tests` is `make test`. With `--enforce` too little coverage is a failure. With
`--nightly` nothing is left out: what is marked `nightly`, many more examples of Hypothesis, and on
PostgreSQL all that has a database.
"""

import os
from pathlib import Path
import subprocess
import sys

from tests.services import DATABASE_URL, missing

MOST_WORKERS = 4  # more start-ups than they save on a suite of this size
WITHOUT_DATABASE = ("protocol", "engine", "browser", "benchmarks", "mutants")
FLOORS = {"protocol/*": 95, "copilot_admin/engine/*": 95, "": 90}  # per cent, with branches
COVERAGE = (sys.executable, "-m", "coverage")
ALL_OF_IT = ("--hypothesis-profile", "nightly")


def main(arguments: list[str]) -> int:
    """Runs everything; returns the status of the process."""
    nightly = "--nightly" in arguments
    subprocess.run([*COVERAGE, "erase"], check=True)
    statuses = [_on_postgres(nightly=nightly), _on_sqlite(nightly=nightly)]
    low = [_coverage(pattern, floor) for pattern, floor in FLOORS.items()]
    failed = any(statuses) or ("--enforce" in arguments and any(low))
    print("FAILED" if failed else "All tests passed.")
    return int(failed)


def _on_postgres(*, nightly: bool) -> int:
    if missing("postgres"):
        print(f"PostgreSQL tests: not run. {missing('postgres')}.")
        return 1 if os.environ.get("REQUIRE_ALL") else 0
    if nightly:
        options = [*ALL_OF_IT, *(f"--ignore=tests/{room}" for room in WITHOUT_DATABASE)]
    else:
        options = ["-m", "database and not nightly", *_about_databases()]
    return _pytest(*options, database_url=DATABASE_URL)


def _on_sqlite(*, nightly: bool) -> int:
    # Measuring takes a third of the time; PostgreSQL alone reaches next to nothing.
    options = ALL_OF_IT if nightly else ("-m", "not nightly")
    return _pytest(*options, "--cov", "--cov-report=", database_url="")


def _about_databases() -> list[str]:
    """The files with such tests: to collect all the others takes as long as to run these."""
    files = sorted(Path("tests").rglob("test_*.py"))
    return [str(file) for file in files if "mark.database" in file.read_text(encoding="utf-8")]


def _pytest(*options: str, database_url: str) -> int:
    print(f"Tests on {'PostgreSQL' if database_url else 'SQLite'}", flush=True)
    workers = min(os.cpu_count() or 1, MOST_WORKERS)
    command = [sys.executable, "-m", "pytest", *options, "-q", "-n", str(workers)]
    command += ["--dist", "worksteal"]  # no worker waits while another has tests left
    return subprocess.run(
        command, env={**os.environ, "DATABASE_URL": database_url}, check=False
    ).returncode


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
