"""Slugs: from a name in any script, free, and never longer than an address takes."""

from typing import Any

import pytest

from copilot_admin.copilots.names import (
    MAX_LENGTH,
    free_slug,
    known_tags,
    slug_of,
    tagged,
    tags_in,
    with_tags,
)
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Copilot
from copilot_admin.models.copilots import SLUG
from tests.factories import make_copilot


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("News Reader", "news-reader"),
        ("  Éclair -- Øresund & Straße 2 ", "eclair-oresund-strasse-2"),
        ("\uff26\uff35LL width", "full-width"),
        ("\u0130stanbul I\u015f\u0131k", "istanbul-isik"),
        ("Đồng", "dong"),
        ("x" * 59 + " y", "x" * 59),
        ("x" * 80, "x" * 60),
        ("市场 Brief", "shichang-brief"),
        ("Новости", "novosti"),
        ("Объект", "obekt"),
        ("ニュース", "niyusu"),
        ("R&D_2 🙂", "r-d-2"),
    ],
)
def test_a_slug_is_like_its_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug
    SLUG(slug)


@pytest.mark.parametrize("name", ["🙂", "!", "ь", " "])
def test_a_name_without_letters_has_a_plain_slug(name: str) -> None:
    assert slug_of(name) == "copilot"


@pytest.mark.django_db
def test_a_slug_that_is_taken_gets_a_number() -> None:
    longest = "s" * MAX_LENGTH
    for slug in ("news", "news-2", longest, "t" * 57 + "-aa", "t" * 57):
        make_copilot(slug=slug)
    assert free_slug("new") == "new"
    assert free_slug("news") == "news-3"
    assert free_slug(longest) == "s" * 58 + "-2"
    assert free_slug("t" * 57 + "-aa") == "t" * 57 + "-2"


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
