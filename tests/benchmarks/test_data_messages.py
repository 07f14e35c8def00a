"""The program that measures Data messages works on few rows; nothing is timed here."""

import json

from benchmarks.data_messages import data_text, pieces_of


def test_all_rows_of_all_pieces_are_in_the_one_block():
    pieces = pieces_of(25)

    heading, _, text = data_text(pieces).partition("\n")

    assert heading == "## Data: ¶widget_data"
    rows = [row for page in json.loads(text).values() for row in page]
    assert rows == [row for piece in pieces for row in json.loads(piece)]
