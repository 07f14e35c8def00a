"""A burst of requests for the same is one reading or two, and nobody gets what is old."""

import asyncio
import threading

import pytest

from copilot_admin.api.shared_reading import SharedReading
from copilot_admin.storage.writer import READER
from tests.polling import HANGS_SECONDS


class Counter:
    """Reads a number that grows, when it is let."""

    def __init__(self) -> None:
        self.readings = 0
        self.began, self.may = threading.Event(), threading.Event()

    def read(self) -> int:
        self.readings += 1
        self.began.set()
        self.may.wait(HANGS_SECONDS)
        return self.readings


def test_who_comes_before_a_reading_begins_shares_it_and_who_comes_later_has_his_own():
    async def scenario() -> list[int]:
        counter, shared = Counter(), SharedReading[int]()
        first = asyncio.ensure_future(shared.of("same", counter.read))
        await asyncio.to_thread(counter.began.wait, HANGS_SECONDS)
        later = [asyncio.ensure_future(shared.of("same", counter.read)) for _ in range(2000)]
        other = asyncio.ensure_future(shared.of("another", counter.read))
        await asyncio.sleep(0)
        counter.may.set()
        answers = await asyncio.gather(first, *later, other)
        return [answers[0], *sorted(set(answers[1:-1])), answers[-1]]

    assert asyncio.run(scenario()) == [1, 2, 3]


def test_one_that_leaves_takes_nothing_from_the_others():
    async def scenario() -> int:
        counter, shared = Counter(), SharedReading[int]()
        counter.may.set()
        leaving, staying = (
            asyncio.ensure_future(shared.of("same", counter.read)) for _ in range(2)
        )
        await asyncio.sleep(0)
        leaving.cancel()
        return await staying

    assert asyncio.run(scenario()) == 1


def test_what_went_wrong_is_told_to_all_and_the_next_one_reads_anew():
    def broken() -> int:
        raise ValueError("no")

    async def scenario() -> int:
        shared = SharedReading[int]()
        both = (shared.of("same", broken), shared.of("same", broken))
        errors = await asyncio.gather(*both, return_exceptions=True)
        assert [type(error) for error in errors] == [ValueError, ValueError]
        return await shared.of("same", lambda: 7)

    assert asyncio.run(scenario()) == 7


@pytest.fixture(autouse=True)
def reader():
    yield
    READER.stop(timeout=HANGS_SECONDS)
