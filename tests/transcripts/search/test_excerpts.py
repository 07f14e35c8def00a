"""An excerpt begins before what was found and marks all of it; where nothing was, there is none."""

import pytest

from copilot_admin.transcripts.search.excerpts import AROUND, ExcerptPiece, excerpt, excerpts
from tests.transcripts.store.journaling import Client


def test_an_excerpt_begins_before_the_first_hit_and_ends_after_it():
    text = "a" * 100 + " Почему? " + "b" * 100
    pieces = excerpt(text, ["почему"])
    assert pieces == (
        ExcerptPiece("…"),
        ExcerptPiece("a" * (AROUND - 1) + " "),
        ExcerptPiece("Почему", is_hit=True),
        ExcerptPiece("? " + "b" * (AROUND - 2)),
        ExcerptPiece("…"),
    )


def test_all_words_within_the_excerpt_are_marked():
    assert excerpt("Bonds and <b>", ["<b>", "bonds"]) == (
        ExcerptPiece("Bonds", is_hit=True),
        ExcerptPiece(" and "),
        ExcerptPiece("<b>", is_hit=True),
    )


def test_no_hit_is_no_excerpt():
    assert excerpt("Bonds", ["shares"]) == ()


@pytest.mark.django_db
def test_the_question_comes_before_its_answers(django_assert_num_queries):
    asked = Client().ask("Bonds?").answer("Bonds and shares")
    turn = asked.accepted.turn_id
    with django_assert_num_queries(2):
        assert excerpts([turn], ["bonds"]) == {
            turn: (ExcerptPiece("Bonds", is_hit=True), ExcerptPiece("?"))
        }
    shares = (ExcerptPiece("Bonds and "), ExcerptPiece("shares", is_hit=True))
    assert excerpts([turn], ["shares"]) == {turn: shares}
    assert excerpts([turn], ["oil"]) == {turn: ()}
    assert excerpts([], ["oil"]) == {}
