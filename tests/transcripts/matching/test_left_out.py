"""Images of a request are not kept; the rest of it is, as it came."""

import pytest

from copilot_admin.transcripts.matching.left_out import without_images
from protocol.json import Json

IMAGE = {"name": "Chart", "content": "iVBORw0KGgo=" * 100, "data_format": {"data_type": "PNG"}}
KEPT = {**IMAGE, "content": "[an image of 1,200 characters in base64; it is not kept]"}


def under(value: Json, *, levels: int) -> Json:
    for level in range(levels):
        value = [value] if level % 2 else {"inner": value}
    return value


@pytest.mark.parametrize("levels", range(7))
def test_an_image_becomes_words_wherever_a_request_has_one(levels):
    assert without_images(under(IMAGE, levels=levels)) == under(KEPT, levels=levels)


def test_what_is_deeper_than_any_image_of_a_request_is_not_searched():
    assert without_images(under(IMAGE, levels=7)) == under(IMAGE, levels=7)


@pytest.mark.parametrize(
    "value",
    [
        {**IMAGE, "data_format": {"data_type": "pdf"}},
        {**IMAGE, "data_format": "png"},
        {**IMAGE, "content": ["iVBORw0KGgo="]},
        {"name": "Chart", "content": "iVBORw0KGgo="},
        ["text", 1, None, True],
        "png",
    ],
)
def test_everything_else_stays(value):
    assert without_images(value) == value
