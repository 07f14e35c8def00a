"""What a row of the transcript list says of thumbs and errors."""

import pytest

from copilot_admin.models import Conversation, Feedback, FeedbackSource, Outcome
from copilot_admin.transcripts.search.row_notes import (
    LONGEST_COMMENT,
    Reason,
    errors_of,
    reasons_of,
)
from tests.transcripts.store.journaling import Client, ai, ending

pytestmark = pytest.mark.django_db


def judge(turn_id: int, value: int, *tags: str, comment: str = "") -> None:
    Feedback.objects.create(
        turn_id=turn_id,
        source=FeedbackSource.END_USER,
        value=value,
        tags=list(tags),
        comment=comment,
    )


def test_reasons_down_come_first_and_are_few():
    client = Client()
    first = client.ask("a").answer("-")
    second = client.ask("a", ai("-"), "b").answer("-")
    judge(first.accepted.turn_id, 1, "Good")
    judge(second.accepted.turn_id, -1, "Wrong", comment="word " * 50)
    Conversation.objects.update(n_up=1, n_down=1)
    row = Conversation.objects.get()
    shortened = ("word " * 50)[:LONGEST_COMMENT] + "…"
    assert reasons_of([row]) == {
        row.pk: [Reason(False, "Wrong"), Reason(False, shortened), Reason(True, "Good")]
    }


def test_errors_are_named_the_latest_first():
    client = Client()
    client.ask("a").answer("-", ended=ending(Outcome.FAILED, error_code="older"))
    client.ask("a", ai("-"), "b").answer("-", ended=ending(Outcome.FAILED, error_code="newer"))
    row = Conversation.objects.get()
    assert errors_of([row]) == {row.pk: ["newer", "older"]}


def test_rows_without_thumbs_and_errors_are_not_asked_about(django_assert_num_queries):
    row = Client().ask("a").answer("-").conversation
    with django_assert_num_queries(0):
        assert (reasons_of([row]), errors_of([row])) == ({}, {})
