"""Text as search compares it."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.storage.search_text import find_spans, normalize


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
def test_texts_that_look_the_same_are_equal(text: str, folded: str):
    assert normalize(text) == folded


@given(st.text(), st.text(min_size=1))
def test_spans_are_in_order_and_within_the_text(text: str, phrase: str):
    places = [place for span in find_spans(text, [normalize(phrase)]) for place in span]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)


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
        ("cafe\u0301 noir", ["caf\u00e9"], ["cafe\u0301"]),
    ],
)
def test_phrases_are_found_where_they_were_written(text: str, phrases: list[str], found: list[str]):
    assert [text[start:end] for start, end in find_spans(text, phrases)] == found
