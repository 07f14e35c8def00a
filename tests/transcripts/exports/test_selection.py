"""An export has the conversations of the list, all of them."""

from datetime import timedelta

from django.utils import timezone
import pytest

from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.transcripts.exports import writing
from copilot_admin.transcripts.exports.writing import (
    count_conversations,
    describe_query,
    find_id_range,
    freeze_query,
    next_window,
    read_selection,
)
from tests.factories import make_version
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db


def find(query: str) -> list[int]:
    selected, below = read_selection(query), find_id_range()[1] + 1
    found: list[int] = []
    while (window := next_window(selected, below)) is not None:
        ids, below = window
        found += ids
    return found


def ask(text: str, *, trace: str = "", **options: object) -> int:
    client = Client(trace_id=trace or None, **options)  # type: ignore[arg-type]
    return client.ask(text).answer("Yes.").conversation.pk


def test_all_windows_together_are_the_list_newest_first(monkeypatch):
    assert (find_id_range(), find("")) == ((0, 0), [])
    monkeypatch.setattr(writing, "WINDOW", 2)
    version = make_version()
    ids = [ask(f"Question {n}?", trace=f"t-{n}", version=version) for n in range(5)]
    assert find("") == find(f"copilot={version.copilot.slug}") == ids[::-1]
    assert find("outcome=failed") == find("copilot=nobody") == []
    mark_for_deletion([version.copilot_id])
    assert find("") == []


def test_words_are_found_however_old_they_are(monkeypatch):
    monkeypatch.setattr(writing, "WINDOW", 1)
    rare = ask("zyxwvu and more?", trace="a")
    for n in range(3):
        ask("Something else?", trace=f"b-{n}")
    assert find("q=zyxwvu") == [rare]
    assert find("q=zyxwvu&outcome=failed") == []


def test_an_id_names_a_conversation_whatever_the_filters():
    named = ask("Something?", trace="trace-of-one")
    ask("Something else?", trace="other")
    assert find("q=trace-of-one&outcome=failed") == [named]
    assert count_conversations(read_selection("q=trace-of-one")) == 1
    with_number = ask(f"What is {named}?", trace="third")
    assert find(f"q={named}") == [with_number, named]


def test_a_stored_query_has_dates_and_is_shown_as_text():
    today = timezone.now().date()
    assert freeze_query({"days": "7", "page": "2"}) == f"since={today - timedelta(days=6)}"
    assert freeze_query({"days": "90", "since": f"{today}"}) == f"since={today}"
    assert freeze_query({"days": "8"}) == "days=8"
    ask("Something?", version=make_version(name="Desk <b>", slug="desk"))
    assert describe_query("q=rates&copilot=desk&outcome=failed") == (
        "“rates”; Copilot: Desk <b>; Outcome: Failed"
    )
    assert freeze_query({}) == describe_query("") == ""
