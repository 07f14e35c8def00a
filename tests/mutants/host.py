"""A process that has collected the tests of a room, and tries changes in forks of itself.

Only functions are changed in it: a change of anything else shows in a module that is imported anew.
"""

from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
import shutil
import signal

import pytest

from tests.mutants.processes import PRINTED, own_folder, printed, run_pytest, settle
from tests.mutants.pytest_plugins import FirstFailure, Selection
from tests.mutants.swapping import Functions, NotSwappable, Swap, functions_there, swaps
from tests.mutants.trial import Outcome, Trial, outcome_of

Told = tuple[Trial, Outcome | None]


def host(trials: Sequence[Trial], taken: "Synchronized[int]", told: Connection) -> None:
    """Tries changes of one room, of which other hosts take some too.

    Args:
        trials: At least one.
        taken: How many of them some host has begun.
        told: Hears of each what became of it; None: its module has to be imported anew.
    """
    room, root, database = trials[0].room, trials[0].root, trials[0].database
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was forked ends too
    with own_folder() as folder, own_folder() as kept:
        settle(root, folder)
        hosting = _Hosting(_not_taken(trials, taken), told, _Files(folder, kept))
        plugins = [hosting, Selection((), ()), FirstFailure()]
        if run_pytest(room.tests, plugins, "-x", database=database) != 0:
            raise RuntimeError(printed(folder)[-2000:])


def _not_taken(trials: Sequence[Trial], taken: "Synchronized[int]") -> Iterator[Trial]:
    while True:
        with taken.get_lock():
            place = taken.value
            taken.value += 1
        if place >= len(trials):
            return
        yield trials[place]


class _Files:
    """What the imports of this process have written, as every change is to find it."""

    def __init__(self, folder: Path, kept: Path) -> None:
        self._folder = folder
        self._kept = kept

    def keep(self) -> None:
        for one in self._ours():
            if one.is_dir():
                shutil.copytree(one, self._kept / one.name)
            else:
                shutil.copy(one, self._kept)

    def put_back(self) -> None:
        for one in self._ours():
            if one.is_dir():
                shutil.rmtree(one)
            else:
                one.unlink()
        shutil.copytree(self._kept, self._folder, dirs_exist_ok=True)

    def _ours(self) -> list[Path]:
        return [one for one in self._folder.iterdir() if one.name != PRINTED]


class _Hosting:
    """Runs, in the place of all tests, those of each change, and nothing in this process."""

    def __init__(self, trials: Iterator[Trial], told: Connection, files: _Files) -> None:
        self._trials = trials
        self._told = told
        self._files = files
        self._is_host = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if not self._is_host:
            return None  # pytest runs the tests that are left
        functions = functions_there()
        self._files.keep()
        for trial in self._trials:
            self._told.send((trial, self._tried(trial, session, functions)))
            self._files.put_back()
        return True

    def _tried(self, trial: Trial, session: pytest.Session, functions: Functions) -> Outcome | None:
        path, before, after = trial.change()
        try:
            swapped = swaps(str(path), before, after, functions)
        except NotSwappable:
            return None
        return outcome_of(trial.root, lambda: self._run(trial, session, swapped))

    def _run(self, trial: Trial, session: pytest.Session, swapped: Sequence[Swap]) -> int:
        for function, code in swapped:
            function.__code__ = code
        self._is_host = False
        trial.selection().keep(session.items)
        session.config.pluginmanager.register(trial.limits())
        try:
            session.config.hook.pytest_runtestloop(session=session)
        except session.Failed:
            return 1
        return 0
