"""State that travels through the client: signed for a day, a copilot, a caller and a chat."""

from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from copilot_admin.agent.client.client_state import (
    LIFETIME,
    MAX_CARRIED,
    MAX_SKILL,
    MAX_STATE,
    MAX_TOKEN,
    MAX_WAITING,
    SIGNED_MEMORY,
    SKILL_NOT_CARRIED,
    build_memory,
    read_memory,
    restore_state,
    sign_memory,
)
from copilot_admin.agent.values.answer_request import Memory, StoredTurn, ToolExchange
from copilot_admin.agent.values.model_call import ToolCall
from protocol.models import HumanMessage, Widgets
from tests.agent.answer_requests import (
    KEY,
    data,
    fetched_pair,
    make_query,
    make_request,
    make_spec,
    make_widget,
)
from tests.agent.scripted import ScriptedProvider

MEMORY = Memory(
    timezone="Asia/Seoul",
    urls=("https://example.com/a",),
    selected_skills=({"slug": "brief", "contentMarkdown": "Be brief. \ud83d", "weight": inf},),
    workspace_state={"current_dashboard_info": {"name": "Mine"}, "action_history": ["Opened"]},
    exchanges=(ToolExchange("calculator", '{"expression": "1+1"}', "2"),),
    waiting=(ToolCall(id="call-2", name="chart", arguments='{"x": "\ud83d"'),),
)
REQUEST = make_request(ScriptedProvider([]), query=make_query(HumanMessage("q")), chat_id="a")
TOKEN = sign_memory(MEMORY, REQUEST)


def verify(token, **changes):
    return read_memory({SIGNED_MEMORY: token}, request=replace(REQUEST, **changes))


def carried(memory, *, first=None, second=None, **changes):
    """A request whose client carries a memory; first and second are what differs in both requests."""
    widget = make_widget()
    asked = make_request(ScriptedProvider([]), query=make_query(HumanMessage("q")), **(first or {}))
    state = {SIGNED_MEMORY: sign_memory(memory, asked)}
    pair = fetched_pair([widget], data("1"), extra_state=state)
    query = make_query(HumanMessage("q"), *pair, widgets=Widgets(primary=(widget,)), **changes)
    return make_request(ScriptedProvider([]), query=query, **(second or {}))


def merged(request, memory=None):
    return restore_state(request, StoredTurn(memory=memory)).query


def test_a_token_is_valid_for_a_day():
    now = REQUEST.now
    assert verify(TOKEN) == MEMORY
    assert verify(TOKEN, now=now + LIFETIME) == MEMORY
    assert verify(TOKEN, now=now + LIFETIME + timedelta(seconds=1)) is None
    assert verify(TOKEN, now=now - timedelta(seconds=5)) == MEMORY  # of a clock that runs ahead
    assert verify(sign_memory(Memory(), REQUEST)) == Memory()


@pytest.mark.parametrize("place", range(0, len(TOKEN), 29))
def test_an_altered_token_is_foreign(place):
    other = "A" if TOKEN[place] != "A" else "B"
    assert verify(TOKEN[:place] + other + TOKEN[place + 1 :]) is None


@pytest.mark.parametrize("token", [None, 7, "", "a.b.c", "é", "{}.\ud83d", [TOKEN], TOKEN[:-1]])
def test_anything_else_is_ignored(token):
    assert verify(token) is None
    assert read_memory({}, request=REQUEST) is None


def test_a_token_of_another_release_is_ignored(monkeypatch):
    monkeypatch.setattr("copilot_admin.agent.client.client_state.asdict", lambda _: {"zone": "UTC"})
    assert verify(sign_memory(MEMORY, REQUEST)) is None


def test_a_token_of_an_older_key_is_valid():
    assert verify(TOKEN, signing_key=b"new", older_keys=(b"oldest", KEY)) == MEMORY
    assert verify(TOKEN, signing_key=b"new", older_keys=(b"oldest",)) is None
    assert sign_memory(MEMORY, replace(REQUEST, signing_key=b"new")) != TOKEN


@pytest.mark.parametrize(
    ("first", "second", "comes_back"),
    [
        ({"chat_id": "a"}, {"chat_id": "a"}, True),
        ({}, {}, True),
        ({}, {"chat_id": "a"}, True),  # the client takes over the trace id that the server made
        ({"principal": "key:1"}, {"principal": "key:1"}, True),
        ({"user_id": "ada"}, {"user_id": "ada"}, True),
        ({"chat_id": "a"}, {"chat_id": "b"}, False),
        ({"chat_id": "a"}, {}, False),
        ({"principal": "key:1"}, {"principal": "key:2"}, False),
        ({"user_id": "ada"}, {"user_id": "eve"}, False),
        ({"user_id": "ada"}, {}, False),
        ({"spec": make_spec(slug="other")}, {}, False),
        ({"principal": 'a", "b'}, {"principal": "a"}, False),
    ],
)
def test_memory_comes_back_in_its_own_chat_alone(first, second, comes_back):
    kept = replace(MEMORY, exchanges=(), waiting=())  # these stay with their call
    found = merged(carried(MEMORY, first=first, second=second))
    assert build_memory(found) == (kept if comes_back else Memory())


def test_without_the_name_of_a_chat_another_question_is_another_chat():
    ask = carried(MEMORY)
    other = replace(ask.query, messages=(HumanMessage("other"), *ask.query.messages[1:]))
    assert build_memory(merged(replace(ask, query=other))) == Memory()


def test_the_client_wins_over_the_server_and_the_server_over_what_is_carried():
    query = merged(carried(MEMORY, timezone="UTC"), MEMORY)
    assert (query.timezone, query.urls) == ("UTC", MEMORY.urls)
    query = merged(carried(MEMORY), Memory(timezone="Europe/Rome"))
    assert (query.timezone, query.workspace_state) == ("Europe/Rome", MEMORY.workspace_state)
    stored = Memory(urls=("https://example.com/a?",))  # without its signature
    assert merged(carried(MEMORY), stored).urls == MEMORY.urls
    assert merged(carried(Memory()), stored).urls == stored.urls


def test_the_first_request_of_a_turn_takes_nothing_over():
    assert merged(REQUEST, MEMORY) is REQUEST.query


def test_a_long_skill_is_not_carried():
    short, long = {"slug": "a", "contentMarkdown": "Be brief."}, "x" * MAX_SKILL
    query = make_query(selected_skills=(short, {"slug": "b", "contentMarkdown": long}, short))
    left_out = {"slug": "b", "contentMarkdown": SKILL_NOT_CARRIED}
    assert build_memory(query) == Memory(selected_skills=(short, left_out, short))


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
    large = {"current_dashboard_info": "x" * MAX_STATE}
    assert build_memory(make_query(workspace_state=large)).workspace_state == {}


def test_a_memory_at_its_limits_fits_into_a_token():
    letter = "\U0001f600"  # is written with twelve characters
    query = make_query(
        selected_skills=({"slug": "a", "contentMarkdown": letter * (MAX_SKILL - 99)},),
        workspace_state={"a": letter * (MAX_STATE - 10)},
    )
    exchanges = (ToolExchange("a", "", letter * MAX_CARRIED),)
    waiting = (ToolCall(id="a", name="", arguments=letter * MAX_WAITING),)
    memory = build_memory(query, Memory(exchanges=exchanges, waiting=waiting))
    assert verify(sign_memory(memory, REQUEST)) == memory
    assert verify("a" * (MAX_TOKEN + 1)) is None
