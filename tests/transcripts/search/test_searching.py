"""Conversations are found by what was said in them, alike in both databases."""

from datetime import timedelta
from uuid import uuid4

from django.db import connection
import pytest

from copilot_admin.models import Conversation, Logging, Outcome, TurnText
from copilot_admin.storage.search_text import normalize
from copilot_admin.transcripts.search import searching, texts, trigrams
from copilot_admin.transcripts.search.phrases import read_typed
from copilot_admin.transcripts.search.searching import (
    Bound,
    Hit,
    found_by_id,
    hits_in,
    search,
)
from copilot_admin.transcripts.search.texts import having
from copilot_admin.transcripts.store.search_index import MOST
from tests.databases import IS_POSTGRESQL
from tests.transcripts.store.journaling import (
    Asked,
    Client,
    ai,
    call_echo,
    call_event,
    ending,
    result,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def said(question: str, answer: str = "Well.") -> Asked:
    return Client().ask(question).answer(answer)


def found(text: str, *, size: int = 50) -> list[str]:
    rows = Conversation.objects.order_by("-last_at", "-id")
    return [row.title for row in search(rows, read_typed(text).phrases, size=size).rows]


@pytest.fixture(params=["walk", "index"])
def way(request, monkeypatch) -> str:
    """Both ways to find: along the list, and by the index alone."""
    if request.param == "index":
        monkeypatch.setattr(searching, "STEPS", (0,))
        monkeypatch.setattr(searching, "MORE_STEPS", (0,))
    return str(request.param)


def test_questions_and_answers_are_found_in_every_language(way: str):
    for number, (question, answer) in enumerate(
        [
            ("Markdown", "A **bold**\nword"),
            ("Die Straße", "-"),
            ("Почему растёт курс?", "Так решил Банк, ведь ставка"),
            ("日本語で答えて", "Well."),
            ("ما هي السندات؟", "Well."),
            ("Is 100% sure?", "Well."),
            ("What is net_asset value", "Well."),
        ]
    ):
        asked = said(question, answer)
        Conversation.objects.filter(pk=asked.conversation.pk).update(
            last_at=asked.at + timedelta(minutes=number)
        )
    titles = {
        "почему": ["Почему растёт курс?"],
        "ПОЧЕМУ": ["Почему растёт курс?"],
        "ведь банк": ["Почему растёт курс?"],
        '"банк, ведь"': ["Почему растёт курс?"],
        '"ведь банк"': [],
        "日本語": ["日本語で答えて"],
        "سندات": ["ما هي السندات؟"],
        "strasse": ["Die Straße"],
        "100%": ["Is 100% sure?"],
        "net_asset": ["What is net_asset value"],
        "netxasset": [],
        "'; drop": [],
        '"bold word"': ["Markdown"],
        "well": ["What is net_asset value", "Is 100% sure?", "ما هي السندات؟", "日本語で答えて"],
    }
    assert {text: found(text) for text in titles} == titles


def test_all_words_stand_in_one_turn(way: str):
    client = Client()
    client.ask("Bonds?").answer("Yields")
    client.ask("Bonds?", ai("Yields"), "Shares?").answer("Dividends")
    assert found("bonds yields") == ["Bonds?"]
    assert found("bonds dividends") == []


def test_an_answer_in_several_legs_and_attempts_is_found(way: str):
    client = Client(trace_id="chat-1")
    client.ask("Prices?").answer("Fetching them.", call_event())
    client.ask("Prices?", call_echo(), result()).answer("Forty-two")
    client.ask("Prices?").answer("Another attempt")
    for text in ("fetching", "forty-two", "attempt", "prices"):
        assert found(text) == ["Prices?"], text


def test_a_broken_answer_is_found_too(way: str):
    asked = Client().ask("Why?")
    asked.answer("Half of it", ended=ending(Outcome.FAILED, error="E"))
    assert found("half") == ["Why?"]


@pytest.mark.parametrize("logging", [Logging.METADATA, Logging.NOTHING])
def test_what_is_not_kept_is_in_no_index(logging: Logging):
    Client(logging=logging).ask("A secret").answer("Another secret")
    assert not TurnText.objects.exists()
    if not IS_POSTGRESQL:
        assert trigrams_kept() == 0


def test_the_text_of_a_turn_is_bounded():
    said("Why " + "x" * 2 * MOST, "An answer")
    assert len(TurnText.objects.get().text) == MOST
    asked = Client()
    asked.ask("Short").answer("y" * MOST)
    asked.ask("Short").answer("z" * MOST)
    assert len(TurnText.objects.last().text) == MOST


def test_the_index_goes_with_its_conversation():
    asked = said("Which dividends?", "None")
    if not IS_POSTGRESQL:
        assert trigrams_kept() > 0
    asked.conversation.delete()
    assert not TurnText.objects.exists()
    if not IS_POSTGRESQL:
        assert trigrams_kept() == 0
        with connection.cursor() as cursor:  # raises if index and texts do not agree
            cursor.execute(
                "INSERT INTO copilot_admin_turntext_trigrams(copilot_admin_turntext_trigrams) "
                "VALUES('integrity-check')"
            )


def trigrams_kept() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM copilot_admin_turntext_trigrams "
            "WHERE copilot_admin_turntext_trigrams MATCH 'sec OR div'"
        )
        return int(cursor.fetchone()[0])


def test_two_signs_are_looked_for_among_the_newest_and_it_says_so(monkeypatch):
    monkeypatch.setattr(searching, "STEPS", (1,))
    monkeypatch.setattr(searching, "MORE_STEPS", (1,))
    for number in range(3):
        said(f"q{number}")
    rows = Conversation.objects.order_by("-last_at", "-id")
    page = search(rows, ("q0",), size=50)
    assert (list(page.rows), page.bound) == ([], Bound.SHORT)
    assert [row.title for row in search(rows, ("q2",), size=50).rows] == ["q2"]
    narrowed = search(rows.filter(title="q0"), ("q0",), size=50)
    assert (len(narrowed.rows), narrowed.bound) == (1, None)


def test_what_the_index_cannot_find_is_bounded_in_other_words(monkeypatch):
    monkeypatch.setattr(searching, "STEPS", (0,))
    monkeypatch.setattr(searching, "MORE_STEPS", (0,))
    said("Почему")
    rows = Conversation.objects.order_by("-last_at", "-id")
    for reach, bound in (
        (trigrams.Reach.NOTHING, Bound.NO_INDEX),
        (trigrams.Reach.ASCII, Bound.LETTERS),
    ):
        monkeypatch.setattr(searching, "reach", lambda reach=reach: reach)
        assert search(rows, ("почему",), size=50).bound is bound


def test_very_many_hits_leave_out_the_oldest_and_it_says_so(monkeypatch):
    monkeypatch.setattr(searching, "STEPS", (0,))
    monkeypatch.setattr(searching, "MORE_STEPS", (0,))
    monkeypatch.setattr(trigrams, "MOST_FOUND", 2)
    for number in range(4):
        said(f"Bonds {number}")
    page = search(Conversation.objects.order_by("-last_at", "-id"), ("bonds",), size=50)
    assert [row.title for row in page.rows] == ["Bonds 3", "Bonds 2"]
    assert page.bound is Bound.MANY


def test_what_takes_too_long_to_read_is_looked_for_among_the_newest(monkeypatch):
    monkeypatch.setattr(searching, "STEPS", (1,))
    monkeypatch.setattr(searching, "MORE_STEPS", (1,))
    monkeypatch.setattr(searching, "AFTER_INDEX", (1,))
    monkeypatch.setattr(searching, "conversations_found", lambda phrases, served: None)
    for number in range(3):
        said(f"Bonds {number}")
    page = search(Conversation.objects.order_by("-last_at", "-id"), ("bonds",), size=50)
    assert [row.title for row in page.rows] == ["Bonds 2", "Bonds 1"]
    assert page.bound is Bound.MANY


def test_a_walk_that_fills_a_page_soon_asks_no_index(monkeypatch):
    monkeypatch.setattr(searching, "STEPS", (2,))
    monkeypatch.setattr(searching, "MORE_STEPS", (1, 1, 8))
    monkeypatch.setattr(searching, "conversations_found", lambda phrases, served: 1 / 0)
    for number in range(5):
        said(f"Bonds {number}")
    rows = Conversation.objects.order_by("-last_at", "-id")
    page = search(rows, ("bonds",), size=2)
    assert [row.title for row in page.rows] == ["Bonds 4", "Bonds 3", "Bonds 2"]
    with pytest.raises(ZeroDivisionError):  # of four that are walked there are not five
        search(rows, ("bonds",), size=4)


def test_after_the_index_took_its_time_the_walk_is_short(monkeypatch):
    monkeypatch.setattr(searching, "STEPS", (1,))
    monkeypatch.setattr(searching, "AFTER_INDEX", (1,))
    monkeypatch.setattr(searching, "MORE_STEPS", (1, 8))
    for number in range(4):
        said(f"Bonds {number}")
    rows = Conversation.objects.order_by("-last_at", "-id")
    monkeypatch.setattr(searching, "conversations_found", lambda phrases, served: None)
    page = search(rows, ("bonds",), size=50)
    assert [row.title for row in page.rows] == ["Bonds 3", "Bonds 2"]
    assert page.bound is Bound.MANY
    assert len(search(rows, ("bo",), size=50).rows) == 4


def test_a_phrase_of_words_that_are_said_everywhere_is_looked_for_along_the_list(monkeypatch):
    monkeypatch.setattr(searching, "STEPS", (2,))
    monkeypatch.setattr(searching, "MORE_STEPS", (1, 1))
    monkeypatch.setattr(searching, "WITHOUT_INDEX", (1,))
    monkeypatch.setattr(searching, "known_texts", lambda: 2 * trigrams.MOST_READ + 1)
    monkeypatch.setattr(searching, "conversations_found", lambda phrases, served: 1 / 0)
    for number in range(4):
        said(f"Yields of bonds {number}" if number % 2 else "Bonds of yields")
    rows = Conversation.objects.order_by("-last_at", "-id")
    page = search(rows, ("yields of bonds",), size=50)
    assert [row.title for row in page.rows] == ["Yields of bonds 3", "Yields of bonds 1"]
    assert page.bound is Bound.MANY
    with pytest.raises(ZeroDivisionError):  # "shares" stands in none of those that were walked
        search(rows, ("yields of shares",), size=50)
    monkeypatch.setattr(searching, "known_texts", lambda: trigrams.MOST_READ)
    with pytest.raises(ZeroDivisionError):  # the index can read as many
        search(rows, ("yields of bonds",), size=50)


@pytest.mark.parametrize("lies_close", [True, False])
def test_one_or_two_signs_are_found_as_they_are(lies_close: bool, monkeypatch):
    monkeypatch.setattr(texts, "DENSE", 10 if lies_close else 0)
    phrases = ("z", "zz", "щ", "щщ", "為", "%", "_", "\\", "'", "🙂")
    for words in ("a z\u0301 z b", "шɛ 爲", "⁄"):
        said(words)
    for phrase in phrases:
        said(f"a {phrase} b")
        said(f"{phrase}{phrase}")
    titles = [row.title for row in Conversation.objects.order_by("-last_at", "-id")]
    expected = {
        phrase: [title for title in titles if normalize(phrase) in normalize(title)]
        for phrase in phrases
    }
    assert {phrase: found(phrase) for phrase in phrases} == expected


@pytest.mark.skipif(IS_POSTGRESQL, reason="PostgreSQL is bounded by time")
def test_sqlite_reads_a_number_of_texts_and_says_so(monkeypatch):
    for number in range(3):
        said(f"Bonds {number}")
    monkeypatch.setattr(trigrams, "MOST_READ", 2)
    ids, are_all = trigrams.conversations_found(["bonds"], ["bonds"])
    assert (len(ids), are_all) == (2, False)
    monkeypatch.setattr(trigrams, "MOST_READ", 3)
    ids, are_all = trigrams.conversations_found(["bonds"], ["bonds"])
    assert (len(ids), are_all) == (3, True)


@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite reads no more than a number of texts")
def test_postgresql_ends_what_reads_too_long(monkeypatch):
    def slow(phrases, served):
        return TurnText.objects.extra(where=["pg_sleep(60) IS NULL"])

    said("Bonds")
    monkeypatch.setattr(trigrams, "MOST_MS", 1)
    monkeypatch.setattr(trigrams, "found_by_index", slow)
    assert trigrams.conversations_found(["bonds"], ["bonds"]) is None
    assert TurnText.objects.exists()  # the connection goes on


def test_a_page_has_one_row_more_if_there_are_others(way: str):
    for number in range(4):
        said(f"Bonds {number}")
    assert found("bonds", size=2) == ["Bonds 3", "Bonds 2", "Bonds 1"]


def test_conversations_are_found_by_the_ids_of_all_that_is_in_them():
    asked = Client(trace_id="chat-1").ask("Why?").answer("So.")
    other = said("Other")
    pk = asked.conversation.pk
    assert found_by_id(read_typed(f" {asked.run_id} ")) == {pk: asked.accepted.turn_id}
    assert found_by_id(read_typed(asked.run_id.hex)) == {pk: asked.accepted.turn_id}
    assert found_by_id(read_typed("chat-1")) == {pk: None}
    assert found_by_id(read_typed(f"#{pk}")) == {pk: None}
    assert found_by_id(read_typed(str(other.conversation.pk))) == {other.conversation.pk: None}
    for text in ("chat", "", str(uuid4()), "0"):
        assert found_by_id(read_typed(text)) == {}, text


def test_a_hit_says_where_it_is_and_how_many_there_are():
    client = Client()
    first = client.ask("Bonds?").answer("Yes")
    client.ask("Bonds?", ai("Yes"), "Shares?").answer("No")
    client.ask("Bonds?", ai("Yes"), "Shares?", ai("No"), "More bonds?").answer("No")
    pk = first.conversation.pk
    assert hits_in([pk], ["bonds"]) == {pk: Hit(turn_id=first.accepted.turn_id, turns=2)}
    assert hits_in([pk], ["nothing"]) == {}
    assert hits_in([], ["bonds"]) == {}


def test_the_index_is_asked_and_no_table_read_whole():
    rows = trigrams.found_by_index(("dividend", "of"), ["dividend"])
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            for way in ("seqscan", "indexscan"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
        plan = rows.order_by("-pk").explain()
        assert "turn_text_trigrams" in plan
        assert "Seq Scan" not in plan
    else:
        plan = rows.order_by("-pk").explain()
        assert "SCAN copilot_admin_turntext_trigrams VIRTUAL TABLE" in plan
        assert "SEARCH copilot_admin_turntext USING INDEX" in plan
    read = having(TurnText.objects.filter(conversation__in=[1, 2]), ["bonds"])
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_indexscan = on")
    plan = read.explain()
    assert "copilot_admin_turntext_conversation_id" in plan
    assert "Seq Scan" not in plan
