"""Whatever reads the text of strangers costs twice as much for twice the text, and no more.

One text that costs the square of its length holds the event loop, and with it the whole server. So
everything that reads text of strangers is in the one list of `doors.py`; `growth.py` measures it.
The garbage collector is off.
"""

from collections.abc import Iterator
import ctypes
import gc
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
import re
from typing import Any

import pytest

from tests.agent.doors import BOUNDED, DOORS
from tests.agent.expressions import has_expression
from tests.agent.growth import BY_DAY, BY_NIGHT, grows_too_fast

ROOT = Path(__file__).parent.parent.parent
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # of mallopt; source: malloc.h of glibc
KEPT_BYTES, USUAL_BYTES = 32 * 1024 * 1024, 128 * 1024
CASES = [(door, *worst) for door in DOORS for worst in door.worst]


@pytest.fixture(autouse=True, scope="module")
def memory_stays() -> Iterator[None]:
    """Lets the process keep what it has freed.

    A server, and so a test that has begun one here, gives large blocks back at once: a long text then
    gets its pages anew in each reading, a short one none.
    """
    adjust: Any = getattr(ctypes.CDLL(None), "mallopt", None)  # not every C library has it
    options = (MMAP_THRESHOLD, TRIM_THRESHOLD) if adjust is not None else ()
    for option in options:
        adjust(option, KEPT_BYTES)
    yield
    for option in options:
        adjust(option, USUAL_BYTES)


@pytest.fixture(autouse=True)
def without_garbage_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param(BY_DAY, id="by day"),
        pytest.param(BY_NIGHT, marks=pytest.mark.nightly, id="by night"),
    ],
)
@pytest.mark.parametrize(
    ("door", "start", "piece", "end"),
    CASES,
    ids=[f"{door.module.__name__}-{number}" for number, (door, *_) in enumerate(CASES)],
)
def test_twice_the_text_costs_at_most_two_and_a_half_times_as_much(door, start, piece, end, sizes):
    assert not grows_too_fast(door.read, (start, piece, end), sizes=sizes)


def test_every_expression_that_meets_text_is_in_the_list():
    files = [
        file for folder in ("protocol", "copilot_admin") for file in (ROOT / folder).rglob("*.py")
    ]
    found = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in files
        if file.parent.name != "migrations" and has_expression(file.read_text(encoding="utf-8"))
    }
    listed = {door.module.__name__ for door in DOORS} | {
        import_module(name).__name__ for name in BOUNDED
    }
    assert found - listed == set()


def test_a_square_is_found():
    assert grows_too_fast(re.compile("a*b").findall, ("", "a", ""), sizes=(250, 2000))


def test_one_spoiled_measurement_of_a_straight_line_is_made_again(monkeypatch):
    spoiled = [BY_DAY[-1]] * 2  # when it is measured first, and once more

    def busy(read: object, text: str, *, at_least: float) -> float:
        is_spoiled = len(text) in spoiled
        if is_spoiled:
            spoiled.remove(len(text))
        return len(text) * (10 if is_spoiled else 1)

    monkeypatch.setattr("tests.agent.growth.seconds", busy)
    assert not grows_too_fast(str, ("", "a", ""))
    assert spoiled == []


def test_a_machine_that_becomes_slower_bends_no_straight_line(monkeypatch):
    slowness: Iterator[float] = chain(
        (1, 2.5, 1), repeat(2.5)
    )  # fast once more for the first small text

    def slower(read: object, text: str, *, at_least: float) -> float:
        return len(text) * next(slowness)

    monkeypatch.setattr("tests.agent.growth.seconds", slower)
    assert not grows_too_fast(str, ("", "a", ""))
