"""Changes the product in small ways and counts how many of the changes its tests notice.

`python -m tests.mutants` is `make mutants`; `--seed` repeats a choice of changes.
"""

import argparse
import ast
from collections.abc import Iterator, Sequence
import importlib
from pathlib import Path
import random
import signal
import sys

from tests.mutants.drawing import drawn, mutations
from tests.mutants.jobs import Task, try_all
from tests.mutants.measuring import TestsFail
from tests.mutants.operators import operators
from tests.mutants.report import shortfall, survivor, table
from tests.mutants.rooms import COPILOT_ADMIN, Product, Room
from tests.mutants.trial import Result

ROOT = Path(__file__).parent.parent.parent
NOTED_EVERY = 20  # results, so that nobody wonders whether it goes on


def main(arguments: Sequence[str], *, product: Product = COPILOT_ADMIN, root: Path = ROOT) -> int:
    """Tries changes and tells what became of them; returns the status of the process."""
    options = _options(arguments, product)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was forked ends too
    print(f"Seed {options.seed}: `--seed {options.seed}` repeats this choice.", flush=True)
    rooms = [room for room in product.rooms if room.name in options.rooms]
    tasks = [
        *(one.task(root) for one in product.by_hand),
        *_drawn(rooms, product, root, number=options.number, seed=options.seed),
    ]
    for name in product.preloaded:
        importlib.import_module(name)
    try:
        results = _told(try_all(tasks, product, root, jobs=options.jobs), root, number=len(tasks))
    except TestsFail as failure:
        print(f"Tests fail although nothing is changed. {failure}")
        return 1
    missing = shortfall(results)
    print(table(results))
    print(missing or "Enough was noticed.")
    return 1 if missing else 0


def _options(arguments: Sequence[str], product: Product) -> argparse.Namespace:
    names = [room.name for room in product.rooms]
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=400, help="changes to draw")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--jobs", type=int, default=2, help="changes tried at a time")
    parser.add_argument("--rooms", nargs="+", choices=names, default=names)
    return parser.parse_args(arguments)


def _drawn(
    rooms: Sequence[Room], product: Product, root: Path, *, number: int, seed: int
) -> Iterator[Task]:
    code = [file for package in product.packages for file in (root / package).rglob("*.py")]
    known = operators(ast.parse(file.read_bytes()) for file in code)
    found = {
        one: room
        for room in rooms
        for file in room.files(root)
        for one in mutations(root, file, known)
    }
    for one in drawn(list(found), number=number, seed=seed):
        yield found[one], one


def _told(results: Iterator[Result], root: Path, *, number: int) -> list[Result]:
    """Prints each change that survives as soon as that is known."""
    told: list[Result] = []
    for result in results:
        told.append(result)
        if result.outcome.is_survival:
            print(survivor(result, root=root), flush=True)
        if len(told) % NOTED_EVERY == 0:
            print(f"{len(told)} of {number}", file=sys.stderr, flush=True)
    return told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
