"""Runs the tests of the service on PostgreSQL, then all tests on SQLite; measures coverage.

`python -m tests` is `make test`; with `--enforce` too little coverage is a failure.
"""

import os
import subprocess
import sys

from tests.services import DATABASE_URL, missing

MOST_WORKERS = 4  # more start-ups than they save on a suite of this size
WITHOUT_DATABASE = ("protocol", "engine", "browser", "benchmarks")
FLOORS = {"protocol/*": 95, "copilot_admin/engine/*": 95, "": 90}  # per cent, with branches
COVERAGE = (sys.executable, "-m", "coverage")


def main(arguments: list[str]) -> int:
    """Runs everything; returns the status of the process."""
    subprocess.run([*COVERAGE, "erase"], check=True)
    statuses = []
    if missing("postgres"):
        print(f"PostgreSQL tests: not run. {missing('postgres')}.")
        statuses.append(1 if os.environ.get("REQUIRE_ALL") else 0)
    else:
        statuses.append(_pytest(*_without_database(), database_url=DATABASE_URL))
    statuses.append(_pytest(database_url=""))
    low = [_coverage(pattern, floor) for pattern, floor in FLOORS.items()]
    failed = any(statuses) or ("--enforce" in arguments and any(low))
    print("FAILED" if failed else "All tests passed.")
    return int(failed)


def _without_database() -> list[str]:
    """Leaves out the rooms whose tests do not depend on which database there is."""
    return [f"--ignore=tests/{room}" for room in WITHOUT_DATABASE]


def _pytest(*options: str, database_url: str) -> int:
    print(f"Tests on {'PostgreSQL' if database_url else 'SQLite'}", flush=True)
    workers = min(os.cpu_count() or 1, MOST_WORKERS)
    command = [sys.executable, "-m", "pytest", *options, "-q", "-n", str(workers), "--cov"]
    command += ["--cov-append", "--cov-report="]
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
