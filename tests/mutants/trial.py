"""One change is tried: the tests that may notice it run over the changed module."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
import signal
import sys
import tempfile

from tests.mutants.changed_module import ChangedModule
from tests.mutants.mutation import Mutation
from tests.mutants.processes import forked, own_folder, run_pytest
from tests.mutants.pytest_plugins import FirstFailure, Limits, Selection
from tests.mutants.rooms import Room

# Until the first test begins: fifty times what it takes here, and then more, on a busy machine.
START_SECONDS = (120.0, 360.0)
TIMES = 10.0  # as long as without the change a test may take, on a machine that others use too
AT_LEAST = 15.0  # seconds for a test that takes none: product and tests wait up to ten
BEGUN = "begun"  # a file of the process


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

    def result(self, outcome: Outcome) -> Result:
        """What is told of it."""
        return Result(self.room, self.mutation, outcome, self.tests)

    def change(self) -> tuple[Path, bytes, bytes]:
        """The file, and its text before and after the change."""
        path = self.root / self.mutation.file
        text = path.read_bytes()
        return path, text, self.mutation.edit.applied(text)

    def selection(self) -> Selection:
        """Which tests run."""
        return Selection(self.tests, self.seconds)

    def limits(self) -> Limits:
        """For how long; begins in the process that runs them."""
        begun = Path(tempfile.gettempdir()) / BEGUN
        return Limits(self.seconds, times=TIMES, at_least=AT_LEAST, begun=begun)


def tried(trial: Trial) -> Result:
    """Tries one change in a process that imports its module anew."""
    return trial.result(outcome_of(trial.root, lambda: _run(trial)))


def outcome_of(root: Path, work: Callable[[], int]) -> Outcome:
    """Runs tests in a forked process; once more, for longer, where none began in time.

    Args:
        root: The working directory.
        work: Runs them; gives the status of pytest.
    """
    for seconds in START_SECONDS:
        with own_folder() as folder:

            def begin(seconds: float = seconds) -> int:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                return work()

            status = forked(begin, root=root, folder=folder)
            if status != -signal.SIGALRM or (folder / BEGUN).exists():
                return _outcome(status)
    return Outcome.BROKEN  # nothing was noticed by a test


def _outcome(status: int) -> Outcome:
    match status:
        case 0 | 5:  # all passed, or none is left
            return Outcome.SURVIVED
        case 2 | 3 | 4:  # pytest could not import something, or was broken itself
            return Outcome.BROKEN
        case _:
            return Outcome.TIMED_OUT if status == -signal.SIGALRM else Outcome.FAILED


def _run(trial: Trial) -> int:
    _, _, after = trial.change()
    sys.meta_path.insert(0, ChangedModule(trial.root, trial.mutation.file, after))
    plugins = [trial.selection(), trial.limits(), FirstFailure()]
    files = list(dict.fromkeys(name.partition("::")[0] for name in trial.tests))
    return run_pytest(files, plugins, "-x", database=trial.database)
