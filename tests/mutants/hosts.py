"""Hosts at work beside each other: each takes the next change that none has begun."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from tests.mutants.host import Told, host
from tests.mutants.trial import Trial


def hosted(trials: Sequence[Trial], *, jobs: int) -> Iterator[Told]:
    """What became of changes of one room, each as soon as that is known.

    Raises:
        RuntimeError: A host ended too early.
    """
    context = get_context("fork")
    taken = context.Value("i", 0)
    open_ones: list[Connection] = []
    with ExitStack() as stack:
        for _ in range(min(jobs, len(trials))):
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=host, args=(trials, taken, there), daemon=True)
            process.start()
            there.close()
            open_ones.append(here)
            stack.callback(_ended, process)
        number = 0
        for told in _received(open_ones):
            number += 1
            yield told
    if number < len(trials):
        raise RuntimeError("a process that tried changes has ended too early")


def _received(open_ones: list[Connection]) -> Iterator[Told]:
    while open_ones:
        for one in wait(open_ones):
            assert isinstance(one, Connection)
            try:
                yield one.recv()
            except EOFError:
                open_ones.remove(one)


def _ended(process: ForkProcess) -> None:
    process.terminate()
    process.join()
