"""The benchmark of the studio runs to its end and says whether its promises were kept."""

import pytest

from benchmarks.studio import Waits, measure


@pytest.mark.parametrize(
    ("editor", "typed", "kept"),
    [(150.0, 107.0, True), (150.1, 107.0, False), (150.0, 107.1, False)],
)
def test_both_promises_count(editor: float, typed: float, kept: bool) -> None:
    waits = Waits(editor_ms=editor, typed_ms=typed, asked_ms=7.0)
    assert waits.kept is kept
    assert str(waits).endswith("NOT KEPT") is not kept


@pytest.mark.nightly
def test_an_editor_is_opened_and_a_draft_is_asked() -> None:
    waits = measure(versions=2, times=1)
    assert waits.editor_ms > 0
    assert waits.typed_ms > 0
    assert waits.asked_ms > 0
