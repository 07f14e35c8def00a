"""Conversations are found by their texts, alike in both databases, and views of lists are saved."""

from datetime import timedelta
from uuid import uuid4

from django.db import connection
from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role, create_roles
from copilot_admin.models import Conversation, Outcome, SavedView, TurnText
from copilot_admin.transcripts.search import list_query, text_index
from copilot_admin.transcripts.search.list_query import (
    MARGIN,
    ConversationList,
    ExcerptPiece,
    RowKey,
    find_by_id,
    load_errors,
    load_excerpts,
    make_excerpt,
    search,
)
from copilot_admin.transcripts.search.text_index import (
    MAX_CHARACTERS,
    find_conversations,
    has_trigram,
    parse_search,
)
from tests.databases import IS_POSTGRESQL
from tests.factories import make_user, make_version
from tests.transcripts.store.journaling import START, Asked, Client, ai, ending

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


def ask(number: int) -> list[int]:
    """Make conversations, two of each second; return their ids as the list has them."""
    version = make_version(slug="desk")
    for place in range(number):
        client = Client(version=version, trace_id=f"t-{place}", now=START)
        pk = client.ask(f"Question {place}").answer("Yes").conversation.pk
        last_at = START + timedelta(seconds=place // 2)
        Conversation.objects.filter(pk=pk).update(last_at=last_at)
    rows = Conversation.objects.order_by("-last_at", "-pk")
    return list(rows.values_list("pk", flat=True))


def rows_of(**given: str) -> ConversationList:
    return ConversationList(Conversation.objects.all(), given)


@pytest.mark.parametrize("sort", ["", "oldest", "started", "first"])
@pytest.mark.parametrize("words", ["", "question"])
def test_pages_follow_each_other_there_and_back(sort: str, words: str):
    ids = ask(7)
    rows = rows_of(sort=sort, q=words)
    expected = ids[::-1] if sort in ("oldest", "first") else ids
    found: list[int] = []
    after, keys = None, []
    while True:
        page = rows.read_page(size=3, after=after)
        found += [row.pk for row in page.rows]
        keys.append(RowKey.of(page.rows[0]))
        assert page.has_previous is (after is not None)
        if not page.has_next:
            break
        after = RowKey.of(page.rows[-1])
    assert found == expected
    for place, key in enumerate(keys[1:]):
        back = rows.read_page(size=3, before=key)
        assert [row.pk for row in back.rows] == expected[3 * place : 3 * place + 3]
        assert back.has_next


def test_neighbours_and_selections_follow_the_filters_and_stay_visible():
    Client().ask("Hidden").answer("Yes")
    hidden = Conversation.objects.get()
    ids = ask(4)[1:]  # the newest is of another copilot
    visible = Conversation.objects.filter(pk__in=ids)
    rows = ConversationList(visible, {"copilot": "desk"})
    by_id = Conversation.objects.in_bulk(ids)
    for here, following in zip(ids, [*ids[1:], None], strict=True):
        assert rows.find_neighbour(RowKey.of(by_id[here]), is_next=True) == following
    assert rows.find_neighbour(RowKey.of(by_id[ids[0]]), is_next=False) is None
    assert rows.select_ids() == ids
    assert ConversationList(visible, {"q": "question"}).select_ids() == ids
    assert rows.count(2, seconds=1) == 3
    found = ConversationList(visible, {"q": f"#{hidden.pk}"})
    assert not found.read_page(size=5).rows
    assert found.select_ids() == []


LIST = "/admin/copilot_admin/conversation/"
SAVE = f"{LIST}views/save/"


def log_in(*groups: str, **changes: object) -> Browser:
    create_roles()
    browser = Browser()
    browser.force_login(make_user(*groups, **changes))
    return browser


def test_a_view_is_saved_shown_shared_and_deleted():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    Client().ask("Why?").answer("-")
    form = {"name": " My <b> ", "query": "outcome=completed", "shared": "on"}
    mine.post(SAVE, form)
    page = others.get(LIST).content.decode()
    assert "My &lt;b&gt;" in page
    assert 'href="?outcome=completed"' in page
    view = SavedView.objects.get()
    others.post(f"{LIST}views/{view.pk}/delete/")
    assert SavedView.objects.exists()
    mine.post(f"{LIST}views/{view.pk}/delete/")
    assert not SavedView.objects.exists()


def rename(browser: Browser, view: SavedView, name: str) -> str:
    form = {"name": name, "query": view.query}
    browser.post(f"{LIST}views/{view.pk}/rename/", form)
    return SavedView.objects.get(pk=view.pk).name


def test_an_own_view_is_renamed_and_nobody_elses():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    for name in ("Old", "Kept"):
        mine.post(SAVE, {"name": name, "query": "outcome=failed", "shared": "on"})
    old = SavedView.objects.get(name="Old")
    assert "/rename/" not in others.get(f"{LIST}?outcome=failed").content.decode()
    assert rename(mine, old, " New  <b> ") == "New <b>"
    for refused in ("Kept", " ", "n" * 61):
        assert rename(mine, old, refused) == "New <b>"
    assert rename(others, old, "Taken over") == "New <b>"
