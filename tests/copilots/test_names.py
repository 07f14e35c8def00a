"""Slugs: from a name in any script, free, and never longer than an address takes."""

import pytest

from copilot_admin.copilots.names import MAX_LENGTH, free_slug, slug_of
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
