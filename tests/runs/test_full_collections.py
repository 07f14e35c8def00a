"""Full passes of the garbage collector wait for what is large, though not for ever."""

import asyncio
from collections.abc import Iterator
import gc
from threading import Thread

import pytest

from copilot_admin.runs.full_collections import FullCollections
from tests.polling import HANGS_SECONDS

USUAL = (700, 10, 10)
OFF = (700, 10, 2**31 - 1)


@pytest.fixture(autouse=True)
def usual_thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.set_threshold(*before)


class Clock:
    """Gives seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Owner:
    """Something large."""

    itself: "Owner"


def test_only_full_passes_are_held_off_and_the_last_hold_lets_them_in_again():
    collections = FullCollections()
    with collections.held():
        collections.hold()
        assert gc.get_threshold() == OFF
    assert gc.get_threshold() == OFF
    collections.release()
    assert gc.get_threshold() == USUAL
    assert not collections.are_held_off


def test_a_hold_ends_with_its_owner():
    collections, owner = FullCollections(), Owner()
    collections.hold_until_gone(owner)
    assert collections.are_held_off
    del owner
    assert gc.get_threshold() == USUAL


def passes() -> int:
    return int(gc.get_stats()[2]["collections"])


@pytest.mark.parametrize("holding", ["one for ever", "one after the other", "none"])
def test_a_pass_comes_at_last_whatever_is_held(holding):
    clock = Clock()
    collections = FullCollections(clock)
    if holding == "one for ever":
        collections.hold()

    def passes_after(seconds: float) -> int:
        if holding == "one after the other":
            with collections.held():
                pass
        before = passes()
        clock.now += seconds
        asyncio.run(collections.look_after())
        return passes() - before

    gc.disable()
    try:
        gc.collect()
        assert [passes_after(seconds) for seconds in (0, 300, 1, 300, 1)] == [*(0, 0, 1, 0, 1)]
        gc.collect()
        clock.now += 1
        assert [passes_after(seconds) for seconds in (0, 300, 1)] == [0, 0, 1]
    finally:
        gc.enable()
    assert gc.get_threshold() == (OFF if holding == "one for ever" else USUAL)


def test_an_owner_that_is_collected_while_holds_are_looked_at_keeps_nobody_waiting():
    collections, owner = FullCollections(), Owner()
    owner.itself = owner
    collections.hold_until_gone(owner)
    del owner

    def collect_meanwhile() -> None:
        with collections._lock:  # as a pass of the collector may come wherever something is made
            gc.collect()

    thread = Thread(target=collect_meanwhile, daemon=True)
    thread.start()
    thread.join(HANGS_SECONDS)
    assert not thread.is_alive()
    assert not collections.are_held_off


def test_the_passes_that_go_on_are_short():
    collections = FullCollections()
    gc.set_threshold(20_000, 10, 10)
    with collections.held():
        assert gc.get_threshold() == (2_000, *OFF[1:])
    assert gc.get_threshold() == (20_000, 10, 10)


def test_without_anything_large_nothing_is_changed():
    asyncio.run(FullCollections(Clock()).look_after())
    assert gc.get_threshold() == USUAL
