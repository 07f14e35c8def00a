"""Texts are compared by what is seen of them, wherever one was cut or laid out anew."""

import pytest

from copilot_admin.transcripts.matching.similarity import COMPARED, Compared, likeness
from copilot_admin.transcripts.matching.walk import ALIKE


def test_likeness_is_the_share_of_letter_groups_that_the_shorter_text_has_too():
    assert likeness("abcdefghi", "abcdefghxyz") == 0.5


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("It rose by five percent", "It rose by", True),
        ("**Bold** and `code`", "Bold and code", True),
        ("[a **b**](https://a.test/1 'c')", '<a href="/2" title="no">a <b>b</b></a>', True),
        ("R&D < 5 and > 3", "<p>R&amp;D &lt; 5 and &gt; 3</p>", True),
        ("東京の株価は下落しました", "東京の株価は", True),
        ("ok", "OK!", True),
        ("yes", "no", False),
        ("no", "It is not known", False),
        ("", "anything", False),
        ("***", "anything", False),
        ("The weather in London is fine", "Shares in Tokyo fell", False),
    ],
)
def test_answers_are_alike_when_cut_or_laid_out_anew(one, other, alike):
    assert (likeness(one, other) >= ALIKE) is alike
    assert likeness(one, other) == likeness(other, one)


@pytest.mark.parametrize(
    ("one", "other", "contradicts"),
    [
        (
            "Sales rose by 12 percent to 300 million",
            "Sales rose by 12 percent to 400 million",
            True,
        ),
        # A citation that only one of them has moves no place behind it.
        ("Sales[1] rose by 12 percent to 300 m", "Sales rose by 12 percent to 400 million", True),
        ("Sales[1] rose by 12 percent to 300 m", "Sales rose by 12 percent to 300 million", False),
        # Other words behind a number are another place.
        ("He has 5 apples", "He has 7 pears", False),
    ],
)
def test_numbers_are_compared_where_the_same_stands_around_them(one, other, contradicts):
    assert Compared(one).contradicts(Compared(other)) is contradicts


@pytest.mark.parametrize(
    ("beginning", "contradicts"), [("ales", False), ("Sales", False), ("Costs", True), ("", False)]
)
def test_a_text_that_was_cut_within_its_first_word_says_the_same(beginning, contradicts):
    whole, cut = Compared("Sales rose by far in Asia"), Compared(f"{beginning} rose by far in Asia")
    assert whole.contradicts(cut) is cut.contradicts(whole) is contradicts


def test_whether_two_long_texts_say_the_same_to_their_ends_is_not_known():
    text = "a" * (COMPARED - 1)
    assert Compared(text).says_the_same(Compared(text))
    assert not Compared(text + "a").says_the_same(Compared(text + "a"))
