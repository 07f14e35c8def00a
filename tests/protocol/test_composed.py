"""Texts are composed piece by piece, and nobody can tell."""

from string import printable
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
import pytest

from protocol import composed as module
from protocol.composed import _MANY_ACCENTS, composed, joins

SIGNS = "aé \n年क\u0301\u0323\u0345\u0344\u0f73\u0f75\u09c7\u09be\u1100\u1161\u11a8\uac00\ufb1d\u1025\u102e🏽"


@given(st.text() | st.text(SIGNS), st.integers(1, 5))
def test_a_text_in_pieces_is_composed_as_the_whole_is(text, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", piece)
        assert composed(text) == unicodedata.normalize("NFC", text)


def test_letters_among_accents_keep_their_places():
    """A block beyond the basic plane has both: only accents that stand together are put in order."""
    text = "\U00011005\U00011046" * 40  # a letter of Brahmi, and what takes its vowel away
    assert composed(text) == text == unicodedata.normalize("NFC", text)


def test_every_sign_that_may_become_one_with_the_sign_before_it_joins_it():
    """By the data of this Python: what is second where a sign is two."""
    several = filter(None, map(unicodedata.decomposition, map(chr, range(sys.maxunicode + 1))))
    seconds = {chr(int(one.split()[1], 16)) for one in several if " " in one and "<" not in one}
    assert {"\u0301", "\u09be", "\u102e"} < seconds
    assert [one for one in seconds if not joins(one)] == []
    vowels_and_last_ones = [chr(one) for one in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))]
    assert [one for one in vowels_and_last_ones if not joins(one)] == []


@pytest.mark.parametrize("sign", ["a", " ", "年", "é", "क", "\u1100", "\U0001f600"])
def test_a_sign_that_stands_for_itself_joins_none(sign):
    assert not joins(sign)


def test_every_accent_is_one_of_those_that_are_put_in_order():
    """Also what only becomes accents; a run of none of them is looked at sign by sign."""
    signs = map(chr, range(sys.maxunicode + 1))
    accents = [one for one in signs if unicodedata.combining(unicodedata.normalize("NFD", one)[0])]
    assert [one for one in accents if not _MANY_ACCENTS.fullmatch(one * 30)] == []
    others = "\N{REPLACEMENT CHARACTER}\N{GRINNING FACE}\u2014年مé"
    for one in others + printable:
        assert not _MANY_ACCENTS.search(one * 100)


@pytest.mark.parametrize("text", ["", "abc", "\u00e9" * 300, "\U0001f600a" * 100_000])
def test_a_text_that_is_composed_is_no_other_one(text):
    assert composed(text) is text
