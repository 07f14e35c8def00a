"""What the server remembers of a turn when the client comes back to it."""

from datetime import timedelta
from typing import Any

import pytest

from copilot_admin.agent.values.answer_request import Memory, StoredTurn
from copilot_admin.models import Logging, Run
from copilot_admin.transcripts.store.turn_state import LOOP_WINDOW
from protocol.events import FunctionCall
from protocol.models import Generation, ResultMessage
from protocol.serializers import echo_of
from tests.transcripts.store.journaling import Client, call_echo, call_event, ending, human, result

pytestmark = pytest.mark.django_db


@pytest.mark.database
def test_memory_of_the_first_request_reaches_the_second():
    client = Client(trace_id="chat")
    skill = {"slug": "news", "contentMarkdown": "read " * 1000}
    state = {"current_dashboard_info": {"name": "Mine"}}
    url, zone = "https://a.example", "Asia/Tokyo"
    env = {
        "timezone": zone, "urls": [url], "selected_skills": [skill, {}], "workspace_state": state,
    }  # fmt: skip
    told = {
        "timezone": zone, "urls": (url,), "selected_skills": (skill,), "workspace_state": state,
    }  # fmt: skip
    remembered = Memory(**told)
    first = client.ask("Price?", env=env, **told)
    assert first.accepted.stored_turn == StoredTurn(memory=remembered)
    first.answer(call_event())
    second = client.ask("Price?", call_echo(), result(), env={"timezone": None})
    assert second.accepted.stored_turn == StoredTurn(
        memory=remembered, client_calls={"get_widget_data": 1}, carried={"signed": "by us"}
    )


@pytest.mark.database
def test_a_loop_is_one_for_a_minute_after_the_end_of_the_call():
    assert timedelta(minutes=1) == LOOP_WINDOW
    client = Client(trace_id="chat")
    client.ask("Price?").answer(call_event(), ended=ending(ms=2500))
    ended_at = client.now + timedelta(milliseconds=2500)

    def is_retry_loop(after: timedelta) -> bool:
        client.now = ended_at + after - timedelta(seconds=1)  # each request is a second later
        return bool(client.ask("Price?").accepted.stored_turn.is_retry_loop)

    assert is_retry_loop(LOOP_WINDOW) is False
    Run.objects.filter(output_node=None).delete()
    assert is_retry_loop(LOOP_WINDOW - timedelta(microseconds=1)) is True


def with_value(symbol: str) -> dict[str, Any]:
    return {"uuid": "w-1", "params": [{"name": "symbol", "current_value": symbol}]}


PRICES = with_value("AAPL")
SELECTED = {"primary": [PRICES]}


@pytest.mark.parametrize(
    ("logging", "called"),
    [
        (Logging.EVERYTHING, {"get_widget_data": 1, "execute_agent_tool": 2}),
        (Logging.METADATA, {"": 3}),
    ],
)
def test_calls_are_counted_for_each_function(logging, called):
    client, history = Client(trace_id="chat-1", logging=logging), [human("Price?")]
    big = {"parameters": {"q": "x" * 100_000}}
    for call in (
        call_event(),
        FunctionCall(function="execute_agent_tool", input_arguments=big),
        FunctionCall(function="execute_agent_tool", input_arguments={"parameters": {}}),
    ):
        client.ask(*history).answer(call)
        echo = echo_of(call, Generation.THREE)
        history += [echo, ResultMessage(call.function, echo.input_arguments)]
    assert client.ask(*history).accepted.stored_turn.client_calls == called


@pytest.mark.parametrize(
    ("changed", "is_retry_loop"),
    [
        ({}, True),
        ({"timezone": None, "urls": []}, True),
        ({"widgets": {"primary": [with_value("MSFT")]}}, False),
        ({"widgets": {"primary": [{**PRICES, "uuid": "w-2"}]}}, False),
        ({"widgets": {"secondary": [PRICES]}}, False),
        ({"widgets": {**SELECTED, "extra": [{"uuid": "w-3"}]}}, False),
        ({"workspace_options": {"deep-research": True}}, False),
        ({"context": [{"uuid": "a-1"}]}, False),
        ({"context": "text"}, True),
    ],
)
def test_the_same_words_about_something_else_are_another_question(changed, is_retry_loop):
    env = {"timezone": "UTC", "widgets": SELECTED}
    client = Client(trace_id="chat-1")
    client.ask("Price?", env=env).answer(call_event())
    again = client.ask("Price?", env={**env, **changed})
    assert again.accepted.stored_turn.is_retry_loop is is_retry_loop
