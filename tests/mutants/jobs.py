"""Measures the rooms, then tries every change, several at a time."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.mutants.database import make_template
from tests.mutants.measuring import measured
from tests.mutants.mutation import Mutation
from tests.mutants.processes import own_folder
from tests.mutants.rooms import Product, Room
from tests.mutants.trial import Result, Trial, tried

Task = tuple[Room, Mutation]


def try_all(tasks: Sequence[Task], product: Product, root: Path, *, jobs: int) -> Iterator[Result]:
    """The results in the order of the tasks, each as soon as it is there.

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
        trials = [
            Trial(
                root=root,
                database=database,
                room=room,
                mutation=mutation,
                tests=tuple(of_room[room].noticing(mutation)),
                seconds=of_room[room].seconds,
            )
            for room, mutation in tasks
        ]
        with _pool(jobs) as pool:
            yield from pool.map(tried, trials)


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Processes without threads, from which it is safe to fork again."""
    return ProcessPoolExecutor(jobs, mp_context=get_context("fork"))
