"""The benchmark of the transcripts runs to its end and says whether its promise was kept."""

import pytest

from benchmarks.first_paint import Paint, measure


@pytest.mark.parametrize(("ms", "kept"), [(150.0, True), (150.1, False)])
def test_the_promise_is_first_paint(ms: float, kept: bool) -> None:
    paint = Paint(name="100 turns", ms=ms, elements=1000, kilobytes=100)
    assert paint.kept is kept
    assert ("NOT KEPT" in str(paint)) is not kept


@pytest.mark.nightly
def test_conversations_are_made_and_opened() -> None:
    paints = measure(turns=[8], megabytes=1, times=1)
    assert [paint.name for paint in paints] == ["8 turns", "1 MB, as a result and as a table"]
    assert all(paint.ms > 0 and paint.elements > 100 for paint in paints)
