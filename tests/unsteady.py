"""Tests that fail among the others and pass by themselves: they are named, and fail no run.

What such a test tells of is real as a rule (something that another test left, a wait that is no
wait), but not of the change that is being checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import json
from pathlib import Path

from tests.side_by_side import Command, run

MOST = 3  # that fail in one pass: more than these have something in common
ALONE = ("-n", "0", "--last-failed", "--last-failed-no-failures", "none")


@dataclass(frozen=True, slots=True)
class Pass:
    """A run of pytest, and the folder in which it remembers what failed."""

    command: Command
    cache: Path


def once_more(failed: Pass) -> bool:
    """Whether the few tests that failed pass without the others; prints which ones they are."""
    tests = _failed_in(failed.cache)
    was_read = all("::" in test for test in tests)  # a file that was not ended the run early
    if not (was_read and 0 < len(tests) <= MOST):
        return False
    name = f"{failed.command.name}, by themselves"
    alone = replace(failed.command, name=name, arguments=[*failed.command.arguments, *ALONE])
    if run([alone]):
        return False
    print("UNSTEADY, to be mended:", *tests, sep="\n  ", flush=True)
    return True


def _failed_in(cache: Path) -> Sequence[str]:
    """The tests of the last run that failed; none where it broke before it could say."""
    file = cache / "v" / "cache" / "lastfailed"
    return sorted(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else []
