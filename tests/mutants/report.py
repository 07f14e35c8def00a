"""Tells what was tried: each change that no test noticed, and a table of the rooms."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.rooms import BY_HAND
from tests.mutants.trial import Outcome, Result

FLOOR = 90.0  # per cent of the changes that tests have to notice
MOST_FILES = 4  # names of test files in a line
_HEAD = (
    f"{'room':<10} {'tried':>6} {'killed':>7} {'by time':>8} {'survived':>9} {'not run':>8} "
    f"{'no program':>11} {'share':>8}"
)


def survivor(result: Result, *, root: Path) -> str:
    """What no test noticed, and which tests ran."""
    mutation = result.mutation
    diff = mutation.shown((root / mutation.file).read_bytes())
    return f"{mutation.file}:{mutation.line} ({mutation.operator}) {_ran(result.tests)}\n{diff}\n"


def table(results: Sequence[Result]) -> str:
    """How much of each room was noticed."""
    rooms = dict.fromkeys(result.room.name for result in results)
    rows = [_row(name, [one for one in results if one.room.name == name]) for name in rooms]
    return "\n".join((_HEAD, *rows, _row("all", results)))


def shortfall(results: Sequence[Result]) -> str:
    """What is missing; empty when enough was noticed."""
    missed = [one for one in results if one.room.name == BY_HAND and not one.outcome.is_killed]
    if missed:
        return "FAILED: a change that is always tried was not noticed."
    if _share_killed(results) < FLOOR:
        return f"FAILED: less than {FLOOR:.0f} % was noticed."
    return ""


def _share_killed(results: Sequence[Result]) -> float:
    """The part that tests noticed of all that was still a program, in per cent."""
    counted = [result.outcome for result in results if result.outcome is not Outcome.BROKEN]
    return 100 * sum(outcome.is_killed for outcome in counted) / len(counted) if counted else 0.0


def _row(name: str, results: Sequence[Result]) -> str:
    number = Counter(result.outcome for result in results)
    return (
        f"{name:<10} {len(results):6} {number[Outcome.FAILED]:7} {number[Outcome.TIMED_OUT]:8} "
        f"{number[Outcome.SURVIVED]:9} {number[Outcome.UNCOVERED]:8} {number[Outcome.BROKEN]:11} "
        f"{_share_killed(results):6.1f} %"
    )


def _ran(tests: Sequence[str]) -> str:
    if not tests:
        return "no test runs this line"
    files = Counter(name.partition("::")[0] for name in tests)
    named = ", ".join(f"{number} of {file}" for file, number in files.most_common(MOST_FILES))
    more = len(files) - MOST_FILES
    return f"{len(tests)} tests ran: {named}" + (f" and {more} files more" if more > 0 else "")
