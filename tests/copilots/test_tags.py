"""Tags: what people type becomes words that differ, and finds copilots in any capitals."""

from typing import Any

import pytest

from copilot_admin.copilots.tags import known_tags, tagged, tags_in, with_tags
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot
from tests.factories import make_copilot


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("", (), []),
        (" , ,\n", (), []),
        ("rates  desk, Macro,macro", (), ["rates desk", "Macro"]),
        ("MACRO\nneu", ("Macro",), ["Macro", "neu"]),
        ("日本, ÖPNV", (), ["日本", "ÖPNV"]),
    ],
)
def test_what_is_typed_becomes_tags(text: str, known: tuple[str, ...], expected: list[str]) -> None:
    assert tags_in(text, known=known) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x" * 41, "a tag has 1 to 40 characters."),
        ("a\x00b", "a tag is one line"),
        ("a\u202eb", "U.202E|a tag is one line"),
        (",".join(f"t{number}" for number in range(21)), "A copilot has 20 tags at most."),
    ],
)
def test_what_cannot_be_a_tag_is_said(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        tags_in(text)


@pytest.mark.parametrize(
    ("before", "more", "expected"),
    [
        (["a", "b"], {"add": ["c"]}, ["a", "b", "c"]),
        (["a", "b"], {"remove": ["A"]}, ["b"]),
        (["a"], {"add": ["A"]}, ["a"]),
        (["a"], {"add": ["b"], "remove": ["b"]}, ["a"]),
    ],
)
def test_tags_are_added_and_taken_away(
    before: list[str], more: dict[str, Any], expected: list[str]
) -> None:
    assert with_tags(before, **more) == expected


@pytest.mark.django_db
def test_copilots_are_counted_and_found_by_their_tags_in_any_capitals() -> None:
    one = make_copilot(tags=["Macro", "rates desk"])
    other = make_copilot(tags=["macro"])
    make_copilot()
    found = Copilot.objects.all()
    assert known_tags(found) == ["Macro", "rates desk"]
    assert set(tagged(found, "MACRO")) == {one, other}
    assert list(tagged(found, "mac")) == []
