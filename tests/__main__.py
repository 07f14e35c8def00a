"""Runs the tests on SQLite, and those that are about a database on PostgreSQL too.

`python -m tests` is `make test`. With `--enforce` too little coverage is a failure, and a test that
fails among the others is tried once more by itself: if it passes, it is named at the end for
somebody to mend; if it fails, what it compared is told then, for which pytest would read and
compile 500 modules anew in every pass. With `--nightly` nothing is left out (what is marked
`nightly`, many more examples of Hypothesis, on PostgreSQL all that has a database), and nothing is
tried twice.
"""

from collections.abc import Sequence
from dataclasses import replace
import os
from pathlib import Path
import sys
import tempfile

from tests.measured import MEASURED_FOLDER, Measured, share, together
from tests.services import DATABASE_URL, missing
from tests.side_by_side import Command, run
from tests.unsteady import Pass, once_more

MOST_WORKERS = 4  # more start-ups than they save on a suite of this size
WITHOUT_DATABASE = ("protocol", "engine", "browser", "benchmarks", "deploy", "mutants")
# These go ways that the tests of the rooms have measured, or compare costs and memory, or run the
# product in other processes. Whole pages are drawn by so many tests that the dearest need not be
# measured: the measured pass is one process, and a core would wait for it.
NOT_MEASURED = tuple(
    f"tests/{name}"
    for name in (
        *("browser", "conformance", "deploy", "docs", "benchmarks", "mutants"),
        "admin/access/test_members.py",
        "admin/access/test_people.py",
        "admin/access/test_roles.py",
        "admin/audit",
        "admin/connect",
        "admin/copilots/test_data_notes.py",
        "admin/copilots/test_form.py",
        "admin/copilots/test_version_in_form.py",
        "admin/figures/test_figures.py",
        "admin/logins",
        "admin/playground",
        "admin/transcripts/test_judging.py",
        "admin/transcripts/test_pages.py",
        "api/test_what_stays.py",
        "engine/test_straight_lines.py",
        "management",
        "test_by_day.py",
    )
)
BROWSER = "tests/browser"
# Linux gives it a third of the usual share. Of 19, a seventieth, nothing was left beside two busy
# programs: a page took a minute there, and all tests 49.
BEHIND = "5"
FLOORS = {"protocol/": 95, "copilot_admin/agent/": 95, "": 90}  # per cent, with branches
ALL_OF_IT = ("--hypothesis-profile", "nightly")
TERSE = "--assert=plain"  # what was compared is not told


def main(arguments: list[str]) -> int:
    """Runs everything; returns the status of the process."""
    nightly, enforce = "--nightly" in arguments, "--enforce" in arguments
    without = missing("postgres")
    if without:
        print(f"PostgreSQL tests: not run. {without}.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[MEASURED_FOLDER] = folder  # for all that starts
        passes = Path(folder)
        *unmeasured, measured = _on_sqlite(passes, nightly=nightly)
        first = [] if without else [_on_postgres(passes, nightly=nightly)]
        # The longest is first to be given a core. The others wait for browsers, for other programs
        # and for PostgreSQL half of their time: each takes what the others and the static checks leave.
        failed = _run([*first, *unmeasured, measured], twice=enforce and not nightly)
        covered = together(passes)
    if without and os.environ.get("REQUIRE_ALL"):
        failed.append("tests on PostgreSQL")
    low = [_is_low(covered, part, floor) for part, floor in FLOORS.items()]
    if enforce and any(low):
        failed.append("coverage")
    print(f"FAILED: {', '.join(failed)}" if failed else "All tests passed.")
    return int(bool(failed))


def _run(passes: Sequence[Pass], *, twice: bool) -> list[str]:
    """Runs passes beside each other; returns the names of those that failed."""
    commands = [one.command for one in passes]
    failed = run([_tersely(one) for one in commands] if twice else commands)
    again = [one for one in passes if one.command.name in failed]
    return [one.command.name for one in again if not (twice and once_more(one))]


def _on_postgres(folder: Path, *, nightly: bool) -> Pass:
    if nightly:
        rooms = [f"--ignore=tests/{room}" for room in WITHOUT_DATABASE]
        options = [*ALL_OF_IT, *rooms, *_several()]
    else:
        options = ["-m", "database and not nightly", *_about_databases()]
    one = _pass("tests on PostgreSQL", folder / "postgresql", options, database_url=DATABASE_URL)
    return _behind(one)


def _on_sqlite(folder: Path, *, nightly: bool) -> tuple[Pass, Pass, Pass]:
    """Those that nothing is measured of, and all the others: to begin to measure takes 8 s."""
    options = ALL_OF_IT if nightly else ("-m", "not nightly")
    unmeasured = [path for path in NOT_MEASURED if path != BROWSER]
    measured = ["-p", "tests.measuring", *(f"--ignore={path}" for path in NOT_MEASURED)]
    return (
        _behind(_pass("tests in a browser", folder / "browser", [*options, BROWSER])),
        _behind(_pass("tests without coverage", folder / "unmeasured", [*options, *unmeasured])),
        _pass("tests on SQLite", folder / "measured", [*options, *measured, *_several()]),
    )


def _behind(one: Pass) -> Pass:
    """A pass that is given a third of what the longest one is."""
    command = replace(one.command, arguments=["nice", "-n", BEHIND, *one.command.arguments])
    return replace(one, command=command)


def _tersely(command: Command) -> Command:
    return replace(command, arguments=[*command.arguments, TERSE])


def _several() -> list[str]:
    """So many workers, of which none waits while another has tests left."""
    workers = min((os.cpu_count() or 1) - 1, MOST_WORKERS)  # the other passes have one core
    return ["-n", str(workers), "--dist", "worksteal"] if workers > 1 else []


def _about_databases() -> list[str]:
    """The files with such tests: to collect all the others takes as long as to run these."""
    files = sorted(Path("tests").rglob("test_*.py"))
    return [str(file) for file in files if "mark.database" in file.read_text(encoding="utf-8")]


def _pass(name: str, cache: Path, options: Sequence[str], *, database_url: str = "") -> Pass:
    kept = ["-o", f"cache_dir={cache}"]
    # SlipCover's own plugin starts where its command does; ours is `tests/measuring.py`.
    plugins = ["-p", "no:slipcover", "-p", "no:anyio", "-p", "tests.loading"]
    command = [sys.executable, "-m", "pytest", *plugins, *kept, *options, "-q"]
    return Pass(Command(name, command, {"DATABASE_URL": database_url}), cache)


def _is_low(measured: Measured, part: str, floor: int) -> bool:
    """Prints the coverage of a part; returns whether it is below its floor."""
    covered = share(measured, part)
    print(f"coverage of {part or 'everything'}: {covered:.1f} % (floor {floor} %)")
    return covered < floor


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
