"""Measures the rooms, then tries every change, several at a time."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.mutants.database import make_template
from tests.mutants.hosts import hosted
from tests.mutants.measuring import Measured, measured
from tests.mutants.mutation import Mutation
from tests.mutants.processes import own_folder
from tests.mutants.rooms import Product, Room
from tests.mutants.trial import Outcome, Result, Trial, tried

Task = tuple[Room, Mutation]
WORTH_A_HOST = 3  # changes of one room: to collect all of its tests takes as long as a few of them


def try_all(tasks: Sequence[Task], product: Product, root: Path, *, jobs: int) -> Iterator[Result]:
    """The results, each as soon as it is there.

    Raises:
        TestsFail: The tests of a room fail without a change.
    """
    with own_folder() as folder:
        database = folder / "ready.sqlite3" if product.settings else None
        if database is not None:
            make_template(database, root=root, settings=product.settings)
        rooms = list(dict.fromkeys(room for room, _ in tasks))
        with _pool(jobs) as pool:
            measure = partial(measured, root=root, database=database)
            of_room = dict(zip(rooms, pool.map(measure, rooms), strict=True))
        anew: list[Trial] = []
        for room, of in of_room.items():
            trials = [
                Trial(
                    root=root,
                    database=database,
                    room=room,
                    mutation=mutation,
                    tests=tuple(of.noticing(mutation)),
                    seconds=of.seconds,
                )
                for its_room, mutation in tasks
                if its_room == room
            ]
            yield from _of_room(trials, of, anew, jobs=jobs)
        with _pool(jobs) as pool:
            yield from pool.map(tried, anew)


def _of_room(
    trials: Sequence[Trial], of: Measured, anew: list[Trial], *, jobs: int
) -> Iterator[Result]:
    """Tries what can be tried in hosts; adds the others to those that import a module anew."""
    yield from (one.result(Outcome.UNCOVERED) for one in trials if not one.tests)
    may_be_hosted: list[Trial] = []
    for one in filter(lambda one: one.tests, trials):
        (anew if of.is_over(one.mutation) else may_be_hosted).append(one)
    if len(may_be_hosted) < WORTH_A_HOST:
        anew += may_be_hosted
        return
    for trial, outcome in hosted(may_be_hosted, jobs=jobs):
        if outcome is None:
            anew.append(trial)
        else:
            yield trial.result(outcome)


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Processes without threads, from which it is safe to fork again."""
    return ProcessPoolExecutor(jobs, mp_context=get_context("fork"))
