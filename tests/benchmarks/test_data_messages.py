"""The program that measures Data messages works on few rows; nothing is timed here."""

import json

import pytest

from benchmarks.data_messages import Point, data_text, floors, growth, pieces_of, shown_text


def test_all_rows_of_all_pieces_are_in_the_one_block():
    pieces = pieces_of(25)

    heading, _, text = data_text(pieces).partition("\n")

    assert heading == "## Data: ¶widget_data"
    rows = [row for page in json.loads(text).values() for row in page]
    assert rows == [row for piece in pieces for row in json.loads(piece)]


def test_a_model_is_shown_a_block_for_each_piece():
    pieces = pieces_of(25)

    assert shown_text(pieces).count("## Data: ¶context\n_instance: page ") == len(pieces)


@pytest.mark.parametrize(("power", "grown"), [(1, 2.0), (1.05, 2.07), (1.1, 2.14), (2, 4.0)])
def test_growth_tells_a_straight_line_from_a_bent_one(power, grown):
    points = [Point(size, 20 * size**power) for size in (1.25, 2.5, 5, 10, 20)]

    assert growth(points) == pytest.approx(grown, abs=0.01)
    assert floors(points)[1][1] is (grown <= 2.1)


def test_floors_say_what_was_measured():
    points = [Point(size, 30 * size) for size in (1.25, 2.5, 5, 10, 20)]

    assert floors(points) == (
        ("5 MB: 150 ms, at most 150", True),
        ("twice as much: 2.00 times as long, at most 2.1", True),
    )
