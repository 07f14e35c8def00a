"""Rows of a request that begins or was rejected, and what is remembered of its turn."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.agent.values.answer_request import Memory, StoredTurn
from copilot_admin.copilots.end_users import AskingUser, UserSource, hashed
from copilot_admin.models import Blob, Conversation, DailyUsage, EndUser, Logging, Run
from copilot_admin.transcripts.end_users import save_end_user
from copilot_admin.transcripts.matching.requests import prepare
from copilot_admin.transcripts.store.rollups import count_finished_runs
from copilot_admin.transcripts.store.run_start import (
    BOOT_ID,
    LOOP_WINDOW,
    Rejection,
    accept,
    reject,
)
from protocol.events import FunctionCall
from protocol.models import Generation, ResultMessage
from protocol.serializers import echo_of
from tests.factories import make_version
from tests.transcripts.store.journaling import (
    START,
    Client,
    ai,
    call_echo,
    call_event,
    ending,
    human,
    result,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]
COLUMNS = (
    "copilot_id", "copilot_version_id", "principal", "provider", "model", "params", "generation",
    "started_at", "ms", "outcome", "error", "error_code", "notes", "boot_id", "heartbeat_at",
)  # fmt: skip


def row() -> dict[str, Any]:
    values: dict[str, Any] = Run.objects.values(*COLUMNS).get()
    return values


def test_a_run_that_begins_says_who_asks_what_of_whom():
    client = Client(principal="key:1", generation=Generation.TWO)
    start = client.start("Hi", notes=("A \0 was dropped.",))
    accept(prepare(replace(start, provider="P" * 101, model="m" * 201)))
    assert list(row().values()) == [
        client.version.copilot_id, client.version.pk, "key:1", "P" * 100, "m" * 200,
        {"temperature": 0.2}, 2, client.now, None, "running", "", "", ["A \ufffd was dropped."],
        BOOT_ID, client.now,
    ]  # fmt: skip


@pytest.mark.parametrize("before", [(), ("Hi", ai("Hello"))])
@pytest.mark.parametrize("trace_id", [None, "chat"])
def test_what_is_written_again_as_its_commit_was_not_answered_is_there_once(before, trace_id):
    client = Client(trace_id=trace_id)
    if before:
        client.ask(before[0]).answer("Hello")
    known = Conversation.objects.count()
    prepared = prepare(client.start(*before, "And now?"))
    accepted = accept(prepared)
    rows = Conversation.objects.order_by("pk").values()
    stored = list(rows)
    assert accept(prepared) == accepted
    assert accept(prepared) == accepted
    assert list(rows) == stored
    assert len(stored) == (known or 1)


@pytest.mark.parametrize(
    ("logging", "error", "principal"),
    [
        (Logging.EVERYTHING, "Too many questions.", "key:1"),
        (Logging.METADATA, "", "key:1"),
        (Logging.NOTHING, "", ""),
    ],
)
def test_rejected_requests_are_one_run_without_a_turn_and_all_are_counted(
    logging, error, principal
):
    version = make_version()
    rejection = Rejection(
        run_id=uuid4(),
        copilot_id=version.copilot_id,
        version_id=version.pk,
        logging=logging,
        principal="key:1",
        started_at=START,
        error="Too many questions.",
        error_code="c" * 51,
        user=AskingUser(id="ada"),
        times=5,
    )
    reject([rejection])
    reject([rejection])
    assert list(row().values()) == [
        version.copilot_id, version.pk, principal, "", "", {}, 3, START, 0, "refused", error, "c" * 50,
        [], BOOT_ID, START,
    ]  # fmt: skip
    run = Run.objects.get()
    assert (run.times, run.cost, run.turn, run.conversation, run.user) == (5, 0, None, None, None)
    assert count_finished_runs() == 1
    day = DailyUsage.objects.get()
    assert (day.version, day.runs, day.refused, day.questions) == (version.number, 5, 5, 0)
    assert not EndUser.objects.exists()  # a rejection brings no erased user back


WIDGETS = {"primary": [{"id": f"w{number}", "name": "x" * 100} for number in range(100)]}
CONTEXT = [{"uuid": "u", "content": "y" * 5000}]
TOOLS = [{"name": "t", "input_schema": {"$ref": "z" * 3000}}]


def test_what_requests_repeat_is_stored_once():
    client = Client()
    fixed = {"widgets": WIDGETS, "context": CONTEXT, "tools": TOOLS}
    for number in range(3):
        client.ask(f"q{number}", env={**fixed, "workspace_state": {"page": number}}).answer("Yes")
    assert Blob.objects.count() == 3 + 3
    for name in fixed:
        assert Run.objects.values_list(name).distinct().count() == 1


ADA = AskingUser(id="ada", email="a@b.example", name="Ada")
EVE = AskingUser(id="eve")


def test_a_user_is_written_when_something_changes_or_once_an_hour():
    names = ("identifier", "email", "name", "source", "first_at", "last_at")
    rows = EndUser.objects.values_list(*names)
    hour = START.replace(minute=0, second=0, microsecond=0)
    first = save_end_user(ADA, at=START)
    assert rows.get() == ("ada", "a@b.example", "Ada", "token", START, hour)
    assert EndUser.objects.get().digest == hashed("ada")
    with CaptureQueriesContext(connection) as queries:
        assert save_end_user(ADA, at=START + timedelta(seconds=1)) == first
    assert len(queries) == 1
    renamed = AskingUser(id="ada", name="Ada L.", source=UserSource.PROXY)
    assert save_end_user(renamed, at=START + timedelta(hours=2)) == first
    later = hour + timedelta(hours=2)
    assert rows.get() == ("ada", "a@b.example", "Ada L.", "proxy", START, later)


def test_where_nothing_is_kept_no_user_is():
    Client(user=ADA, logging=Logging.NOTHING).ask("Hello").answer("Hi.")
    assert not EndUser.objects.exists()
    assert Run.objects.get().user is None
    Client(user=EVE, logging=Logging.METADATA).ask("Hello").answer("Hi.")
    assert EndUser.objects.get().identifier == "eve"


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
