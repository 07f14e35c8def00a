"""What travels through the client is sealed for a day, a copilot, a caller and a chat."""

from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from copilot_admin.agent.client import extra_state
from copilot_admin.agent.client.extra_state import (
    LIFETIME,
    LONGEST,
    SIGNED_MEMORY,
    Holder,
    _serializer,
    seal,
    unseal,
)
from copilot_admin.agent.client.memory import (
    MOST_ADDRESSES,
    MOST_CARRIED,
    MOST_SKILLS,
    MOST_STATE,
    MOST_WAITING,
    SKILL_NOT_CARRIED,
    completed,
    holders,
    memory_of,
)
from copilot_admin.agent.values.engine_input import Exchange, Memory, Recollection
from copilot_admin.agent.values.model_call import ToolCall
from protocol.models import HumanMessage, Widgets
from tests.agent.engine_inputs import (
    KEY,
    NOW,
    data,
    fetched_pair,
    make_engine_input,
    make_query,
    make_spec,
    make_widget,
)
from tests.agent.scripted import ScriptedProvider

MEMORY = Memory(
    timezone="Asia/Seoul",
    urls=("https://example.com/a",),
    selected_skills=({"slug": "brief", "contentMarkdown": "Be brief. \ud83d", "weight": inf},),
    workspace_state={"current_dashboard_info": {"name": "Mine"}, "action_history": ["Opened"]},
    exchanges=(Exchange("calculator", '{"expression": "1+1"}', "2"),),
    waiting=(ToolCall(id="call-2", name="chart", arguments='{"x": "\ud83d"'),),
)
MINE = Holder(slug="macro", principal="key:1", chat="trace a")
TOKEN = seal(MEMORY, signing_key=KEY, holder=MINE, now=NOW)


def opened(token, *, key=KEY, holder=MINE, now=NOW):
    return unseal({SIGNED_MEMORY: token}, signing_key=key, holder=holder, now=now)


def carried(memory, *, first=None, second=None, **changes):
    """A query whose client carries a memory, and the ask it belongs to.

    `first` and `second` are what differs in the two requests besides their queries.
    """
    first, second = first or {}, second or {}
    widget = make_widget()
    asked = make_engine_input(ScriptedProvider([]), query=make_query(HumanMessage("q")), **first)
    token = seal(memory, signing_key=KEY, holder=holders(asked)[0], now=NOW)
    query = make_query(
        HumanMessage("q"),
        *fetched_pair([widget], data("1"), extra_state={SIGNED_MEMORY: token}),
        widgets=Widgets(primary=(widget,)),
        **changes,
    )
    return make_engine_input(ScriptedProvider([]), query=query, **second)


def test_what_is_sealed_is_what_is_unsealed():
    assert opened(TOKEN) == MEMORY


def test_the_same_memory_is_the_same_token():
    assert seal(MEMORY, signing_key=KEY, holder=MINE, now=NOW) == TOKEN


def test_memory_lives_for_a_day():
    assert opened(TOKEN, now=NOW + LIFETIME) == MEMORY
    assert opened(TOKEN, now=NOW + LIFETIME + timedelta(seconds=1)) is None


@pytest.mark.parametrize("place", range(0, len(TOKEN), 7))
def test_any_altered_character_makes_it_foreign(place):
    other = "A" if TOKEN[place] != "A" else "B"
    assert opened(TOKEN[:place] + other + TOKEN[place + 1 :]) is None


@pytest.mark.parametrize(
    "token", [None, 7, "", "no", "a.b.c", "é", "{}.\ud83d", [TOKEN], TOKEN[:-1]]
)
def test_anything_else_is_ignored(token):
    assert opened(token) is None


@pytest.mark.parametrize(
    "other",
    [
        Holder(slug="other", principal="key:1", chat="trace a"),
        Holder(slug="macro", principal="key:2", chat="trace a"),
        Holder(slug="macro", principal="anonymous", chat="trace a"),
        Holder(slug="macro", principal="key:1", chat="trace b"),
        Holder(slug="macro", principal="key:1", chat="question a"),
        Holder(slug='macro", "key:1', principal="", chat="trace a"),
    ],
)
def test_another_copilot_caller_or_chat_does_not_open_it(other):
    assert opened(TOKEN, holder=other) is None


def test_another_key_does_not_open_it():
    assert opened(TOKEN, key=b"another") is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"chat_id": "a"}, {"chat_id": "a"}),
        ({}, {}),
        ({}, {"chat_id": "a"}),  # the client takes over the trace id that the server made
        ({"principal": "key:1"}, {"principal": "key:1"}),
        ({"user_id": "ada"}, {"user_id": "ada"}),
    ],
)
def test_memory_comes_back_in_its_own_chat(first, second):
    found = completed(carried(MEMORY, first=first, second=second), Recollection())
    assert found.timezone == "Asia/Seoul"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"chat_id": "a"}, {"chat_id": "b"}),
        ({"chat_id": "a"}, {}),
        ({"principal": "key:1"}, {"principal": "key:2"}),
        ({"user_id": "ada"}, {"user_id": "eve"}),
        ({"user_id": "ada"}, {}),
        ({"spec": make_spec(slug="other")}, {}),
    ],
)
def test_memory_of_another_chat_caller_or_copilot_is_ignored(first, second):
    ask = carried(MEMORY, first=first, second=second)
    assert memory_of(completed(ask, Recollection())) == Memory()


def test_what_the_client_is_given_to_carry_has_an_end():
    short, long = {"slug": "a", "contentMarkdown": "Be brief."}, "x" * 5_000_000
    query = make_query(
        timezone=long,
        urls=(f"https://a.example/{long}",),
        selected_skills=(short, {"slug": "b", "contentMarkdown": long}, short),
    )
    assert memory_of(query) == Memory(
        selected_skills=(short, {"slug": "b", "contentMarkdown": SKILL_NOT_CARRIED})
    )


def test_a_token_that_is_longer_than_any_of_ours_is_not_even_checked(monkeypatch):
    most = "\U0001f600"  # written with twelve characters
    exchange = Exchange("a", "", most * MOST_CARRIED)
    call = ToolCall(id="a", name="", arguments=most * MOST_WAITING)
    query = make_query(
        urls=(most * MOST_ADDRESSES,),
        selected_skills=({"slug": "a", "contentMarkdown": most * (MOST_SKILLS - 99)},),
        workspace_state={"a": most * (MOST_STATE - 2)},
    )
    memory = memory_of(query, exchanges=(exchange,), waiting=(call,))
    token = seal(memory, signing_key=KEY, holder=MINE, now=NOW)
    assert 0.6 * LONGEST < len(token) < 0.8 * LONGEST
    assert opened(token) == memory

    monkeypatch.setattr(extra_state, "_serializer", lambda *_: pytest.fail("it was checked"))
    assert opened("a" * LONGEST + TOKEN) is None


def test_memory_of_another_question_is_ignored_where_no_chat_has_a_name():
    ask = carried(MEMORY)
    other = replace(ask.query, messages=(HumanMessage("other"), *ask.query.messages[1:]))
    assert memory_of(completed(replace(ask, query=other), Recollection())) == Memory()


def test_token_of_a_clock_that_runs_ahead_is_accepted():
    assert opened(TOKEN, now=NOW - timedelta(seconds=5)) == MEMORY


def test_what_an_older_key_signed_is_ours_too():
    carried = {SIGNED_MEMORY: TOKEN}
    given = {"signing_key": b"new", "holder": MINE, "now": NOW}
    assert unseal(carried, **given, older_keys=(b"oldest", KEY)) == MEMORY
    assert unseal(carried, **given, older_keys=(b"oldest",)) is None
    assert seal(MEMORY, **given) not in (TOKEN, seal(MEMORY, **{**given, "signing_key": KEY}))


def test_nothing_sent_is_nothing_known():
    assert unseal({}, signing_key=KEY, holder=MINE, now=NOW) is None


def test_empty_memory_survives():
    token = seal(Memory(), signing_key=KEY, holder=MINE, now=NOW)
    assert opened(token) == Memory()


def test_client_says_it_again_and_wins():
    query = completed(carried(MEMORY, timezone="UTC"), Recollection(memory=MEMORY))
    assert (query.timezone, query.urls) == ("UTC", MEMORY.urls)


def test_journal_wins_over_what_the_client_carries():
    known = Memory(timezone="Europe/Rome")
    query = completed(carried(MEMORY), Recollection(memory=known))
    assert memory_of(query) == Memory(
        timezone="Europe/Rome",
        urls=MEMORY.urls,
        selected_skills=MEMORY.selected_skills,
        workspace_state=MEMORY.workspace_state,
    )


@pytest.mark.parametrize(
    ("length", "kept"),
    [
        (MOST_STATE - 20, {"current_dashboard_info", "agents", "current_page_context"}),
        (MOST_STATE, {"current_dashboard_info", "current_page_context"}),
    ],
)
def test_as_much_of_the_workspace_travels_as_fits_the_dashboard_first(length, kept):
    state = {"agents": "x" * (length - 2), "current_dashboard_info": {}, "current_page_context": 1}
    assert memory_of(make_query(workspace_state=state)).workspace_state.keys() == kept


def test_a_token_from_before_the_workspace_travelled_is_understood():
    claims = {"expires": NOW.timestamp(), "timezone": "UTC", "urls": [], "selected_skills": []}
    token = _serializer(KEY, MINE).dumps(claims)
    assert opened(token) == Memory(timezone="UTC")


def test_addresses_are_taken_from_what_the_client_carries_as_the_journal_has_no_signatures():
    known = Memory(urls=("https://example.com/a?",))
    assert completed(carried(MEMORY), Recollection(memory=known)).urls == MEMORY.urls
    assert completed(carried(Memory()), Recollection(memory=known)).urls == known.urls


def test_carried_memory_is_used_when_nothing_else_is_known():
    mine = replace(MEMORY, exchanges=(), waiting=())  # the others stay with the call before
    assert memory_of(completed(carried(MEMORY), Recollection())) == mine


def test_foreign_memory_is_ignored_and_defaults_stay():
    ask = carried(MEMORY)
    foreign = make_engine_input(ask.provider, query=ask.query, spec=None)
    object.__setattr__(foreign, "signing_key", b"another")
    assert memory_of(completed(foreign, Recollection())) == Memory()


def test_first_request_of_a_turn_takes_nothing_over():
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    ask = make_engine_input(ScriptedProvider([]), query=query)
    assert completed(ask, Recollection(memory=MEMORY)) is query
