"""Conversations are found by their texts, alike in both databases."""

from uuid import uuid4

from django.db import connection
import pytest

from copilot_admin.models import Conversation, TurnText
from copilot_admin.transcripts.search import list_query, text_index
from copilot_admin.transcripts.search.list_query import find_by_id, search
from copilot_admin.transcripts.search.text_index import (
    MAX_CHARACTERS,
    find_conversations,
    has_trigram,
    parse_search,
)
from tests.databases import IS_POSTGRESQL
from tests.transcripts.store.journaling import (
    Asked,
    Client,
    ai,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def say(question: str, answer: str = "Well.") -> Asked:
    return Client().ask(question).answer(answer)


def find(text: str, *, size: int = 50) -> tuple[list[str], bool]:
    rows = Conversation.objects.order_by("-last_at", "-id")
    found, is_limited = search(rows, parse_search(text).phrases, size=size)
    return [row.title for row in found], is_limited


def titles(text: str) -> list[str]:
    return find(text)[0]


def limit_steps(monkeypatch: pytest.MonkeyPatch, first: int, *more: int) -> None:
    monkeypatch.setattr(list_query, "FIRST_STEPS", (first,))
    monkeypatch.setattr(list_query, "MORE_STEPS", more or (0,))


@pytest.fixture(params=["walk", "index"])
def _method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search along the list, and by the index alone."""
    if request.param == "index":
        limit_steps(monkeypatch, 0)


@pytest.mark.usefixtures("_method")
class TestBothMethods:
    def test_texts_are_found_in_every_language(self):
        for question, answer in (
            ("Markdown", "A **bold**\nword"),
            ("Die Straße", "-"),
            ("Почему растёт курс?", "Так решил Банк, ведь ставка"),
            ("日本語で答えて", "Well."),
            ("ما هي السندات؟", "Well."),
            ("Is 100% sure?", "Well."),
            ("What is net_asset value", "Well."),
        ):
            say(question, answer)
        expected = {
            "ПОЧЕМУ": {"Почему растёт курс?"},
            "ведь банк": {"Почему растёт курс?"},
            '"банк, ведь"': {"Почему растёт курс?"},
            '"ведь банк"': set(),
            "日本語": {"日本語で答えて"},
            "سندات": {"ما هي السندات؟"},
            "strasse": {"Die Straße"},
            "100%": {"Is 100% sure?"},
            "net_asset": {"What is net_asset value"},
            "netxasset": set(),
            "'; drop": set(),
            '"bold word"': {"Markdown"},
        }
        assert {text: set(titles(text)) for text in expected} == expected

    def test_all_words_stand_in_one_turn(self):
        client = Client()
        client.ask("Bonds?").answer("Yields")
        client.ask("Bonds?", ai("Yields"), "Shares?").answer("Dividends")
        assert titles("bonds yields") == ["Bonds?"]
        assert titles("bonds dividends") == []


def test_the_index_goes_with_its_conversation_and_is_bounded():
    asked = say("Why " + "x" * 2 * MAX_CHARACTERS, "An answer")
    assert len(TurnText.objects.get().text) == MAX_CHARACTERS
    asked.conversation.delete()
    assert not TurnText.objects.exists()
    if not IS_POSTGRESQL:
        name = "copilot_admin_turntext_trigrams"
        with connection.cursor() as cursor:  # raises if index and texts don't agree
            cursor.execute(f"INSERT INTO {name}({name}) VALUES('integrity-check')")


@pytest.mark.skipif(IS_POSTGRESQL, reason="PostgreSQL is limited by time")
def test_sqlite_reads_a_number_of_texts(monkeypatch):
    for number in range(3):
        say(f"Bonds {number}")
    for most, found in ((2, (2, False)), (3, (3, True))):
        monkeypatch.setattr(text_index, "MAX_READ", most)
        ids, are_all = find_conversations(["bonds"], ["bonds"])
        assert (len(ids), are_all) == found


@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite reads no more than a number of texts")
def test_postgresql_cancels_a_search_that_reads_too_long(monkeypatch):
    def slow(phrases, indexed):
        rows = TurnText.objects.extra(where=["pg_sleep(60) IS NULL"])
        return rows.values_list("conversation_id", flat=True)

    say("Bonds")
    monkeypatch.setattr(text_index, "_texts_on_postgresql", slow)
    assert find_conversations(["bonds"], ["bonds"]) is None
    assert TurnText.objects.exists()  # the connection works


def test_conversations_are_found_by_ids():
    asked, other = Client(trace_id="chat-1").ask("Why?").answer("So."), say("Other")
    pk, visible = asked.conversation.pk, Conversation.objects.all()
    for text in (f" {asked.run_id} ", asked.run_id.hex):
        assert find_by_id(parse_search(text), visible) == {pk: asked.accepted.turn_id}
    for text in ("chat-1", f"#{pk}", str(pk)):
        assert find_by_id(parse_search(text), visible) == {pk: None}
    assert find_by_id(parse_search(str(other.conversation.pk)), visible) == {
        other.conversation.pk: None
    }
    for text in ("chat", "", str(uuid4()), "0"):
        assert find_by_id(parse_search(text), visible) == {}, text


def test_the_index_is_used_and_no_table_read_whole():
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            for method in ("seqscan", "indexscan"):
                cursor.execute(f"SET LOCAL enable_{method} = off")
        plan = text_index._texts_on_postgresql(("dividend", "of"), ["dividend"]).explain()
        assert "turn_text_trigrams" in plan
        assert "Seq Scan" not in plan
    else:
        plan = text_index._texts_on_sqlite(("dividend", "of"), ["dividend"]).explain()
        assert "SCAN copilot_admin_turntext_trigrams VIRTUAL TABLE" in plan
        assert "SEARCH copilot_admin_turntext USING INDEX" in plan


def test_an_index_finds_three_letters_in_a_row():
    phrases = ("abc", "s&p 500", "日本語", "हिन्दी", "ab", "a b c", "日本", "+++")
    assert [has_trigram(one) for one in phrases] == [True] * 4 + [False] * 4
