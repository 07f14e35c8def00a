"""Details of the rows of the conversation list."""

import pytest

from copilot_admin.models import Conversation, Outcome
from copilot_admin.transcripts.search.list_query import (
    MARGIN,
    ExcerptPiece,
    load_errors,
    load_excerpts,
    make_excerpt,
)
from tests.transcripts.store.journaling import Client, ai, ending


def test_an_excerpt_is_the_first_hit_in_its_context():
    text = "a" * 100 + " Почему? " + "b" * 100
    assert make_excerpt(text, ["почему"]) == (
        ExcerptPiece("…"),
        ExcerptPiece("a" * (MARGIN - 1) + " "),
        ExcerptPiece("Почему", is_hit=True),
        ExcerptPiece("? " + "b" * (MARGIN - 2)),
        ExcerptPiece("…"),
    )
    assert make_excerpt("Bonds and <b>", ["<b>", "bonds"]) == (
        ExcerptPiece("Bonds", is_hit=True),
        ExcerptPiece(" and "),
        ExcerptPiece("<b>", is_hit=True),
    )
    assert make_excerpt("Bonds", ["shares"]) == ()


@pytest.mark.django_db
class TestRows:
    def test_the_question_comes_before_its_answers(self, django_assert_num_queries):
        turn = Client().ask("Bonds?").answer("Bonds and shares").accepted.turn_id
        bonds = (ExcerptPiece("Bonds", is_hit=True), ExcerptPiece("?"))
        shares = (ExcerptPiece("Bonds and "), ExcerptPiece("shares", is_hit=True))
        with django_assert_num_queries(2):
            assert load_excerpts([turn], ["bonds"]) == {turn: bonds}
        assert load_excerpts([turn], ["shares"]) == {turn: shares}
        assert load_excerpts([turn], ["oil"]) == {turn: ()}

    def test_errors_are_listed_the_latest_first(self):
        client = Client()
        client.ask("a").answer("-", ended=ending(Outcome.FAILED, error_code="older"))
        client.ask("a", ai("-"), "b").answer("-", ended=ending(Outcome.FAILED, error_code="newer"))
        row = Conversation.objects.get()
        assert load_errors([row]) == {row.pk: ["newer", "older"]}
