"""One change is tried: the tests that may notice it run over the changed module."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
import signal
import sys

from tests.mutants.changed_module import ChangedModule
from tests.mutants.mutation import Mutation
from tests.mutants.processes import forked, own_folder, run_pytest
from tests.mutants.pytest_plugins import Limits, Selection
from tests.mutants.rooms import Room

START_SECONDS = 120.0  # until the first test runs: fifty times what it takes here
TIMES = 10.0  # as long as without the change a test may take, on a machine that others use too
AT_LEAST = 15.0  # seconds for a test that takes none: product and tests wait up to ten


class Outcome(StrEnum):
    """What became of a change."""

    FAILED = "a test failed"
    TIMED_OUT = "a test took too long"
    SURVIVED = "no test failed"
    UNCOVERED = "no test runs it"
    BROKEN = "the tests could not be collected"

    @property
    def is_killed(self) -> bool:
        """Whether tests noticed the change."""
        return self in (Outcome.FAILED, Outcome.TIMED_OUT)

    @property
    def is_survival(self) -> bool:
        """Whether tests should have noticed it and did not."""
        return self in (Outcome.SURVIVED, Outcome.UNCOVERED)


@dataclass(frozen=True, slots=True)
class Result:
    """A change, what became of it, and the tests that ran."""

    room: Room
    mutation: Mutation
    outcome: Outcome
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A change and what is needed to try it.

    Attributes:
        tests: Those that may notice it, in the order in which they run.
        seconds: How long each test of the room takes without a change.
        database: One with all tables, where the tests need one.
    """

    root: Path
    room: Room
    mutation: Mutation
    tests: tuple[str, ...]
    seconds: Mapping[str, float]
    database: Path | None


def tried(trial: Trial) -> Result:
    """Tries one change."""
    outcome = _outcome(trial) if trial.tests else Outcome.UNCOVERED
    return Result(trial.room, trial.mutation, outcome, trial.tests)


def _outcome(trial: Trial) -> Outcome:
    with own_folder() as folder:
        status = forked(lambda: _run(trial), root=trial.root, folder=folder)
    match status:
        case 0 | 5:  # all passed, or none is left
            return Outcome.SURVIVED
        case 2 | 3 | 4:  # pytest could not import something, or was broken itself
            return Outcome.BROKEN
        case _:
            return Outcome.TIMED_OUT if status == -signal.SIGALRM else Outcome.FAILED


def _run(trial: Trial) -> int:
    signal.setitimer(signal.ITIMER_REAL, START_SECONDS)
    text = trial.mutation.edit.applied((trial.root / trial.mutation.file).read_bytes())
    sys.meta_path.insert(0, ChangedModule(trial.root, trial.mutation.file, text))
    selection = Selection(trial.tests, trial.seconds)
    limits = Limits(trial.seconds, times=TIMES, at_least=AT_LEAST)
    files = list(dict.fromkeys(name.partition("::")[0] for name in trial.tests))
    return run_pytest(files, [selection, limits], "-x", database=trial.database)
