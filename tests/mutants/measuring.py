"""Runs the tests of a room without a change: how long they take, and which lines they run."""

from collections.abc import Mapping
from dataclasses import dataclass
import json
import os
from pathlib import Path

from coverage import CoverageData

from tests.mutants.mutation import Mutation
from tests.mutants.processes import forked, own_folder, printed, run_pytest
from tests.mutants.pytest_plugins import NO_TEST, Measuring, Selection
from tests.mutants.rooms import Room


class TestsFail(Exception):
    """The tests of a room fail although nothing is changed."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the tests of a room do.

    Attributes:
        seconds: How long each takes, by its name.
        running: The tests that run a line, by file and line; `NO_TEST` stands for an import.
    """

    seconds: Mapping[str, float]
    running: Mapping[tuple[str, int], frozenset[str]]

    def noticing(self, mutation: Mutation) -> list[str]:
        """The tests that may notice a change, the fastest first.

        What runs at an import may matter to all of them; those that run the same line come first.
        """
        found = self._found(mutation)
        names = self.seconds if NO_TEST in found else found
        return sorted(names, key=lambda name: (name not in found, self.seconds[name]))

    def is_over(self, mutation: Mutation) -> bool:
        """Whether an import has run what is changed: to change it afterwards is too late."""
        return NO_TEST in self._found(mutation)

    def _found(self, mutation: Mutation) -> frozenset[str]:
        lines = (self.running.get((mutation.file, line), frozenset()) for line in mutation.lines)
        return frozenset[str]().union(*lines)


def measured(room: Room, *, root: Path, database: Path | None) -> Measured:
    """Runs the tests of a room.

    Raises:
        TestsFail: One of them fails; the text has its end.
    """
    with own_folder() as folder:

        def work() -> int:
            os.environ["COVERAGE_CORE"] = "ctrace"  # the other one knows no contexts
            measuring = Measuring(folder, [root / one for one in room.sources])
            return run_pytest(room.tests, [measuring, Selection((), ())], database=database)

        if forked(work, root=root, folder=folder) != 0:
            raise TestsFail(f"{room.name}: {printed(folder)[-2000:]}")
        seconds = json.loads((folder / "seconds.json").read_text(encoding="utf-8"))
        return Measured(seconds, _running(folder / "coverage", root))


def _running(file: Path, root: Path) -> dict[tuple[str, int], frozenset[str]]:
    data = CoverageData(str(file))
    data.read()
    return {
        (Path(path).relative_to(root).as_posix(), line): frozenset(tests)
        for path in data.measured_files()
        for line, tests in data.contexts_by_lineno(path).items()
    }
