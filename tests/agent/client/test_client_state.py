"""What travels through the client is sealed for a day, a copilot, a caller and a chat."""

from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from copilot_admin.agent.client.client_state import (
    LIFETIME,
    MAX_CARRIED,
    MAX_SKILLS,
    MAX_STATE,
    MAX_TOKEN,
    MAX_URLS,
    MAX_WAITING,
    SIGNED_MEMORY,
    SKILL_NOT_CARRIED,
    Audience,
    audiences,
    build_memory,
    merge_carried_state,
    sign_memory,
    verify_memory,
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
MINE = Audience(slug="macro", principal="key:1", chat="trace a")
TOKEN = sign_memory(MEMORY, signing_key=KEY, audience=MINE, now=NOW)


def opened(token, *, key=KEY, audience=MINE, now=NOW):
    return verify_memory({SIGNED_MEMORY: token}, signing_key=key, audience=audience, now=now)


def carried(memory, *, first=None, second=None, **changes):
    """A query whose client carries a memory, and the ask it belongs to.

    `first` and `second` are what differs in the two requests besides their queries.
    """
    first, second = first or {}, second or {}
    widget = make_widget()
    asked = make_engine_input(ScriptedProvider([]), query=make_query(HumanMessage("q")), **first)
    token = sign_memory(memory, signing_key=KEY, audience=audiences(asked)[0], now=NOW)
    query = make_query(
        HumanMessage("q"),
        *fetched_pair([widget], data("1"), extra_state={SIGNED_MEMORY: token}),
        widgets=Widgets(primary=(widget,)),
        **changes,
    )
    return make_engine_input(ScriptedProvider([]), query=query, **second)


def test_a_token_gives_its_memory_back_for_a_day():
    assert opened(TOKEN) == MEMORY
    assert opened(TOKEN, now=NOW + LIFETIME) == MEMORY
    assert opened(TOKEN, now=NOW + LIFETIME + timedelta(seconds=1)) is None
    assert opened(TOKEN, now=NOW - timedelta(seconds=5)) == MEMORY  # of a clock that runs ahead
    empty = sign_memory(Memory(), signing_key=KEY, audience=MINE, now=NOW)
    assert opened(empty) == Memory()


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
        Audience(slug="other", principal="key:1", chat="trace a"),
        Audience(slug="macro", principal="key:2", chat="trace a"),
        Audience(slug="macro", principal="anonymous", chat="trace a"),
        Audience(slug="macro", principal="key:1", chat="trace b"),
        Audience(slug="macro", principal="key:1", chat="question a"),
        Audience(slug='macro", "key:1', principal="", chat="trace a"),
    ],
)
def test_another_copilot_caller_or_chat_does_not_open_it(other):
    assert opened(TOKEN, audience=other) is None


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
    found = merge_carried_state(carried(MEMORY, first=first, second=second), Recollection())
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
    assert build_memory(merge_carried_state(ask, Recollection())) == Memory()


def test_what_the_client_is_given_to_carry_has_an_end():
    short, long = {"slug": "a", "contentMarkdown": "Be brief."}, "x" * 5_000_000
    query = make_query(
        timezone=long,
        urls=(f"https://a.example/{long}",),
        selected_skills=(short, {"slug": "b", "contentMarkdown": long}, short),
    )
    assert build_memory(query) == Memory(
        selected_skills=(short, {"slug": "b", "contentMarkdown": SKILL_NOT_CARRIED})
    )


def test_memory_of_another_question_is_ignored_where_no_chat_has_a_name():
    ask = carried(MEMORY)
    other = replace(ask.query, messages=(HumanMessage("other"), *ask.query.messages[1:]))
    assert build_memory(merge_carried_state(replace(ask, query=other), Recollection())) == Memory()


def test_what_an_older_key_signed_is_ours_too():
    carried = {SIGNED_MEMORY: TOKEN}
    given = {"signing_key": b"new", "audience": MINE, "now": NOW}
    assert verify_memory(carried, **given, older_keys=(b"oldest", KEY)) == MEMORY
    assert verify_memory(carried, **given, older_keys=(b"oldest",)) is None
    assert sign_memory(MEMORY, **given) not in (
        TOKEN,
        sign_memory(MEMORY, **{**given, "signing_key": KEY}),
    )


def test_client_says_it_again_and_wins():
    query = merge_carried_state(carried(MEMORY, timezone="UTC"), Recollection(memory=MEMORY))
    assert (query.timezone, query.urls) == ("UTC", MEMORY.urls)


def test_journal_wins_over_what_the_client_carries():
    known = Memory(timezone="Europe/Rome")
    query = merge_carried_state(carried(MEMORY), Recollection(memory=known))
    assert build_memory(query) == Memory(
        timezone="Europe/Rome",
        urls=MEMORY.urls,
        selected_skills=MEMORY.selected_skills,
        workspace_state=MEMORY.workspace_state,
    )


def test_addresses_are_taken_from_what_the_client_carries_as_the_journal_has_no_signatures():
    known = Memory(urls=("https://example.com/a?",))
    assert merge_carried_state(carried(MEMORY), Recollection(memory=known)).urls == MEMORY.urls
    assert merge_carried_state(carried(Memory()), Recollection(memory=known)).urls == known.urls


def test_carried_memory_is_used_when_nothing_else_is_known():
    mine = replace(MEMORY, exchanges=(), waiting=())  # the others stay with the call before
    assert build_memory(merge_carried_state(carried(MEMORY), Recollection())) == mine


def test_first_request_of_a_turn_takes_nothing_over():
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    ask = make_engine_input(ScriptedProvider([]), query=query)
    assert merge_carried_state(ask, Recollection(memory=MEMORY)) is query


@pytest.mark.parametrize(
    ("length", "kept"),
    [
        (MAX_STATE - 100, ["agents", "current_dashboard_info"]),
        (MAX_STATE, ["current_dashboard_info"]),
    ],
)
def test_a_large_workspace_travels_as_its_dashboard(length, kept):
    state = {"agents": "x" * length, "current_dashboard_info": {}}
    assert [*build_memory(make_query(workspace_state=state)).workspace_state] == kept


def test_a_memory_at_its_limits_fits_into_a_token():
    letter = "\U0001f600"  # is written with twelve characters
    query = make_query(
        urls=(letter * MAX_URLS,),
        selected_skills=({"slug": "a", "contentMarkdown": letter * (MAX_SKILLS - 99)},),
        workspace_state={"a": letter * (MAX_STATE - 10)},
    )
    memory = build_memory(
        query,
        exchanges=(Exchange("a", "", letter * MAX_CARRIED),),
        waiting=(ToolCall(id="a", name="", arguments=letter * MAX_WAITING),),
    )
    assert opened(sign_memory(memory, signing_key=KEY, audience=MINE, now=NOW)) == memory
    assert opened("a" * (MAX_TOKEN + 1)) is None
