"""Texts as searches compare them."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.storage.folding import fold, folded_with_places, spans_of


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Почему", "почему"),
        ("STRASSE Straße", "strasse strasse"),
        ("İstanbul", "istanbul"),
        ("ışık IŞIK", "işik işik"),
        ("\ufb01ne \uff21\uff22\uff23", "fine abc"),
        ("cafe\u0301", "caf\u00e9"),
        ("a\n\n  b\u00a0c", "a b c"),
        ("**bold** `code`", "bold code"),
        ("zero\u200bwidth", "zerowidth"),
        ("日本語", "日本語"),
        ("", ""),
    ],
)
def test_texts_that_a_reader_takes_for_the_same_are_the_same(text: str, folded: str):
    assert fold(text) == folded


@given(st.text())
def test_folding_again_changes_nothing(text: str):
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_every_sign_of_a_folded_text_has_its_place(text: str):
    folded, places = folded_with_places(text)
    assert len(places) == len(folded)
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)


@pytest.mark.parametrize(
    ("text", "phrases", "found"),
    [
        ("Почему курс? почему", ["почему"], ["Почему", "почему"]),
        ("a **big  word** b", ["big word"], ["big  word"]),
        ("Straße", ["ss"], ["ß"]),
        ("abcd", ["abc", "bcd"], ["abcd"]),
        ("abcd", ["x", ""], []),
        ("a * b", ["a b"], ["a * b"]),
        ("first:\n* one\n* two", ["first: one two"], ["first:\n* one\n* two"]),
        ("now \u200b here", ["now here"], ["now \u200b here"]),
        (
            "\u1112\u1161\u11ab \u1100\u1173\u11af",
            ["한", "글"],
            ["\u1112\u1161\u11ab", "\u1100\u1173\u11af"],
        ),
        ("ﾊﾞﾝｸ", ["バンク"], ["ﾊﾞﾝｸ"]),
        ("\u09c7\u09be", ["\u09cb"], ["\u09c7\u09be"]),
    ],
)
def test_phrases_are_found_where_they_were_written(text: str, phrases: list[str], found: list[str]):
    assert [text[start:end] for start, end in spans_of(text, phrases)] == found


def test_of_more_accents_than_any_language_has_thirty_are_compared():
    many = "a" + "\u0316" * 40 + " end"
    assert fold(many) == "a" + "\u0316" * 30 + " end"
    assert fold(fold(many)) == fold(many)
    assert spans_of(many, ["end"]) == [(42, 45)]
    assert spans_of(many, [fold(many[:41])]) == [(0, 41)]
