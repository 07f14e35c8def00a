"""Which conversations an export has: those of the list, all of them."""

from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
import pytest

from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.models import Conversation
from copilot_admin.transcripts.exports import selection
from copilot_admin.transcripts.exports.selection import (
    borders,
    counted,
    frozen_query,
    next_window,
    read_selection,
    words_of,
)
from tests.factories import make_version
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db


def found(query: str) -> list[int]:
    chosen, below = read_selection(query), borders()[1] + 1
    ids: list[int] = []
    while (window := next_window(chosen, below)) is not None:
        ids += window.ids
        below = window.below
    return ids


def asked(text: str, *, trace: str = "", **options: object) -> int:
    client = Client(trace_id=trace or None, **options)  # type: ignore[arg-type]
    return client.ask(text).answer("Yes.").conversation.pk


def test_all_windows_together_are_the_list_newest_first(monkeypatch):
    monkeypatch.setattr(selection, "WINDOW", 2)
    version = make_version()
    ids = [asked(f"Question {n}?", trace=f"t-{n}", version=version) for n in range(5)]
    assert found("") == ids[::-1]
    assert found(f"copilot={version.copilot.slug}") == ids[::-1]
    assert found("outcome=failed") == []


def test_words_are_found_however_old_they_are(monkeypatch):
    monkeypatch.setattr(selection, "WINDOW", 1)
    rare = asked("zyxwvu and more?", trace="a")
    for n in range(3):
        asked("Something else?", trace=f"b-{n}")
    assert found("q=zyxwvu") == [rare]
    assert found("q=zyxwvu&outcome=failed") == []


def test_an_id_names_a_conversation_whatever_the_filters():
    named = asked("Something?", trace="trace-of-one")
    asked("Something else?", trace="other")
    assert found("q=trace-of-one&outcome=failed") == [named]
    assert counted(read_selection("q=trace-of-one")) == 1
    with_number = asked(f"What is {named}?", trace="third")
    assert found(f"q={named}") == [with_number, named]


def test_what_builders_tried_is_there_where_the_filter_says_so():
    tried = asked("Draft?", trace="a", principal="playground:1")
    assert found("") == []
    assert found("playground=with") == [tried]


def test_a_value_that_no_filter_knows_finds_nothing():
    asked("Something?")
    assert found("copilot=nobody") == []


def test_a_copilot_that_is_being_deleted_is_left_out():
    version = make_version()
    asked("Something?", version=version)
    mark_for_deletion([version.copilot_id])
    assert found("") == []


def test_the_last_days_become_a_date():
    today = timezone.now().date()
    assert frozen_query({"days": "7", "page": "2"}) == f"since={today - timedelta(days=6)}"
    assert frozen_query({"days": "1", "since": "2020-01-01"}) == f"since={today}"
    assert frozen_query({"days": "90", "since": f"{today}"}) == f"since={today}"
    assert frozen_query({"days": "8"}) == "days=8"
    assert frozen_query({}) == ""


def test_filters_are_said_in_words():
    version = make_version(name="Desk <b>", slug="desk")
    asked("Something?", version=version)
    assert words_of("q=rates&copilot=desk&outcome=failed") == (
        "“rates”; Copilot: Desk <b>; Outcome: Failed"
    )
    assert words_of("") == ""


def test_conversations_are_counted_as_far_as_it_is_cheap(monkeypatch):
    for n in range(3):
        asked("Something?", trace=f"t-{n}")
    assert counted(read_selection("")) == 3
    monkeypatch.setattr(selection, "COUNTED", 1)
    assert counted(read_selection("")) == 2
    assert counted(read_selection("q=something")) is None


def test_there_are_no_borders_without_conversations():
    assert borders() == (0, 0)
    assert next_window(read_selection(""), 1) is None


@pytest.mark.database
def test_a_window_costs_as_many_queries_however_much_it_holds():
    costs = []
    for n in range(6):
        asked("Something?", trace=f"t-{n}")
        if n in (0, 5):
            chosen = read_selection("q=something")
            with CaptureQueriesContext(
                connection,
            ) as queries:
                window = next_window(chosen, borders()[1] + 1)
            assert window is not None
            assert len(window.ids) == Conversation.objects.count()
            costs.append(len(queries))
    assert costs[0] == costs[1]
