"""The program that looks for gaps of the event loop, without a server and without a clock."""

import asyncio
import gc
from io import StringIO

import pytest

from benchmarks.loop_bodies import QUESTIONS, encoded
from benchmarks.loop_gaps import MOST_BYTES, MOST_SECONDS, Row, longest, told
from benchmarks.loop_watch import Gap, Watch, gaps_in
from benchmarks.walls.bystander import Sample

MOST_BODY = 20 * 2**20


def row(*, own: float = 0.0, size: int = 1) -> Row:
    gap = Gap(at=10.0, seconds=1.0, cpu=own, gc=0.25, where="here")
    return Row(name="x", status=200, began=10.0, ended=20.0, loop=gap, bytes=size, seconds=2.0)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if "MB" in name or "500,000" in name else ())
        for name in QUESTIONS
    ],
)
def test_every_class_is_a_question_that_a_server_takes(name):
    slug, body = QUESTIONS[name]()
    assert slug in {"bench", "wild", "rehearsed"}
    assert body["messages"]
    assert len(encoded(body)) <= MOST_BODY


def test_a_gap_is_our_own_as_far_as_the_server_used_the_processor():
    assert [Gap(0.0, 1.0, cpu).own for cpu in (0.25, 3.0)] == [0.25, 1.0]


@pytest.mark.parametrize(
    ("own", "size", "kept"),
    [
        (MOST_SECONDS, MOST_BYTES, True),
        (MOST_SECONDS * 1.1, MOST_BYTES, False),
        (MOST_SECONDS, MOST_BYTES + 1, False),
    ],
)
def test_a_class_is_judged_by_its_own_gap_and_its_memory(own, size, kept):
    assert row(own=own, size=size).kept is kept


def test_the_longest_wait_is_one_that_overlaps_the_class():
    before, across, during, after = (
        Sample(at, 2.0, own=own) for at, own in ((7.0, 2.0), (9.0, 1.5), (12.0, 1.0), (21.0, 2.0))
    )
    assert longest([before, across, during, after], row()) is across
    assert longest([], row()) == Sample(10.0, 0.0)


def test_the_table_has_a_line_for_each_class():
    lines = told([row(own=0.2)], gaps=[Sample(12.0, 0.3, own=0.1)], polls=[]).splitlines()
    assert lines[1].split() == [
        "x",
        "200",
        "2.0",
        "1000",
        "200",
        "250",
        "300",
        "100",
        "0",
        "0",
        "0",
        "here",
    ]


def test_a_loop_that_was_kept_from_running_is_noted(tmp_path):
    file = StringIO()
    watch = Watch(file)

    async def hindered() -> None:
        watching = asyncio.ensure_future(watch.run())
        while not file.getvalue():
            await asyncio.sleep(0)
            sum(range(1_000_000))  # nothing else runs meanwhile
        watching.cancel()

    asyncio.run(hindered())
    (tmp_path / "gaps").write_text(file.getvalue())
    gap, *_ = gaps_in(tmp_path / "gaps")
    assert gap.seconds > 0
    assert gap.cpu > 0


def test_the_collector_s_share_is_counted():
    watch = Watch(StringIO())
    gc.callbacks.append(watch.collector)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(watch.collector)
    assert watch.collected() > 0
