"""How often a question may call the client, and how much one call may ask for."""

import json

import pytest

from copilot_admin.agent.client.limits import (
    MAX_CHARACTERS,
    MAX_SOURCES,
    CallBudget,
)
from copilot_admin.agent.client.widget_data import plan_data
from copilot_admin.agent.client.widgets import DATA_TOOL
from copilot_admin.agent.values.answer_request import StoredTurn
from copilot_admin.agent.values.model_call import Finish, ToolCall
from copilot_admin.agent.values.spec import CallLimit, WidgetDataMode
from protocol.events import FunctionCall
from protocol.models import CallMessage, Generation, HumanMessage, WidgetParam, Widgets
from tests.agent.answer_requests import events_of, make_query, make_request, make_spec, make_widget
from tests.agent.scripted import ScriptedProvider, Step, text

GET, EXTRA, MCP = "get_widget_data", "get_extra_widget_data", "execute_agent_tool"
FETCH = make_spec(widget_data=WidgetDataMode.FETCH)
ASK = make_spec(widget_data=WidgetDataMode.ASK)
LONG = "x" * (MAX_CHARACTERS // 3)
TOO_LONG = (
    "The call of '{}' is longer than 1 MB, with what Workspace knows of the widgets "
    "and agents that it names. Ask for less at once."
)


def refusal(function, calls, *, remembered=None, is_retry_loop=False, earlier=(), **spec):
    messages = (*map(CallMessage, earlier), HumanMessage("q"), *map(CallMessage, calls))
    stored_turn = StoredTurn(client_calls=remembered or {}, is_retry_loop=is_retry_loop)
    budget = CallBudget(make_spec(**spec), query=make_query(*messages), stored_turn=stored_turn)
    return budget.refusal(function, label="")


DATA_SPENT = (
    "The dashboard was already asked for data 4 times for this question, so this answer uses "
    "what there is. Ask again about fewer widgets."
)
ALL_SPENT = "Workspace was already called {} times for this question, so {}. Ask again to go on."
ONCE = (
    "Tools were already called once for this question, so no more tools are called. "
    "Ask again to go on."
)
LOOPED = (
    "The dashboard sent the question again without {}, so this answer does without it. "
    "Ask again in a new chat if it should not."
)
LIMITED = (CallLimit(function=MCP, most=1),)


@pytest.mark.parametrize(
    ("function", "calls", "more", "sentence"),
    [
        (GET, [GET, GET, EXTRA], {}, ""),
        (GET, [GET, GET, EXTRA, GET], {}, DATA_SPENT),
        (EXTRA, [GET, GET, EXTRA, GET], {}, DATA_SPENT),
        (MCP, [GET] * 4, {}, ""),
        (GET, [MCP] * 15, {}, ""),
        (MCP, [MCP] * 12 + ["save_skill"] * 4, {},
         ALL_SPENT.format(16, "no more tools are called")),
        (GET, [MCP] * 16, {}, ALL_SPENT.format(16, "this answer uses what there is")),
        (MCP, [MCP], {"client_call_limits": LIMITED}, ONCE),
        (GET, [GET] * 5, {"client_call_limits": LIMITED}, ""),
        (GET, [GET] * 5, {"client_call_limits": LIMITED, "max_client_calls": 5},
         ALL_SPENT.format(5, "this answer uses what there is")),
        (GET, [], {"earlier": [GET] * 5}, ""),
        (GET, [GET] * 3, {"remembered": {GET: 4}}, DATA_SPENT),
        (GET, [GET] * 4, {"remembered": {GET: 3}}, DATA_SPENT),
        (GET, [GET] * 2, {"remembered": {GET: 2}}, ""),
        (GET, [], {"remembered": {GET: 2, EXTRA: 2}}, DATA_SPENT),
        (GET, [], {"is_retry_loop": True}, LOOPED.format("the data it was asked for")),
        (MCP, [], {"is_retry_loop": True}, LOOPED.format("the result of what it was asked to do")),
    ],
)  # fmt: skip
def test_a_budget_says_when_a_function_is_not_called_again(function, calls, more, sentence):
    assert refusal(function, calls, **more) == sentence


def large_widget(number=1, value=LONG):
    params = (WidgetParam(name="note", current_value=value), WidgetParam(name="year"))
    return make_widget(number, params=params)


def answer(query, *script, spec=ASK):
    with ScriptedProvider(script) as provider:
        return events_of(make_request(provider, query=query, spec=spec)), provider.calls


def calls_of(name, *arguments):
    calls = (
        ToolCall(id=str(number), name=name, arguments=json.dumps(one))
        for number, one in enumerate(arguments)
    )
    return Step((*calls, Finish("tool_calls")))


HUGE = large_widget(1, LONG * 4)
MANY = tuple(make_widget(number) for number in range(MAX_SOURCES + 100))


@pytest.mark.parametrize(
    ("widgets", "generation", "ids"),
    [
        (MANY, 3, [f"prices_{number}" for number in range(MAX_SOURCES)]),
        ((HUGE, *map(large_widget, range(2, 9)), make_widget(9)), 3,
         ["prices_2", "prices_3", "prices_9"]),
        ((HUGE, make_widget(2), make_widget(3)), 1, ["prices_2"]),
    ],
    ids=["many", "long arguments", "generation 1"],
)  # fmt: skip
def test_the_widgets_that_fit_in_one_call_are_fetched(widgets, generation, ids):
    query = make_query(widgets=Widgets(primary=widgets), generation=Generation(generation))
    plan = plan_data(FETCH, query=query, stored_turn=StoredTurn())
    assert plan.fetch
    assert [one.id for one in plan.fetch.sources] == ids


def test_what_a_model_wants_beyond_one_call_waits_for_the_next():
    widgets = tuple(map(large_widget, range(1, 6)))
    wish = calls_of(DATA_TOOL.name, {"widgets": [{"id": widget.ref} for widget in widgets]})
    (event,), _ = answer(make_query(widgets=Widgets(secondary=widgets)), wish)
    assert isinstance(event, FunctionCall)
    assert [one["id"] for one in event.input_arguments["data_sources"]] == ["prices_1", "prices_2"]


AGENT = {"id": "a", "name": "A", "holder_url": f"https://{'x' * 100_000}", "features": {}}
CHANGED = {"widget_uuid": large_widget().uuid, "input_args": {"year": 1}}


@pytest.mark.parametrize(
    ("query", "function", "arguments", "sentence"),
    [
        ({"widgets": Widgets(secondary=(HUGE,))}, DATA_TOOL.name,
         ({"widgets": [{"id": HUGE.ref}]},), TOO_LONG.format("get_widget_data")),
        ({"workspace_state": {"agents": [AGENT]}}, "assign_tasks_to_agents",
         ({"task_requests": [{"description": "Look.", "assigned_agent_id": "a"}] * 20},),
         TOO_LONG.format("assign_tasks_to_agents")),
        ({"widgets": Widgets(secondary=(large_widget(),)),
          "workspace_options": {"generative-ui": True}}, "update_widget_in_dashboard",
         ({"data_sources": [CHANGED] * 10},), TOO_LONG.format("update_widget_in_dashboard")),
    ],
    ids=["widget", "agents", "dashboard"],
)  # fmt: skip
def test_a_call_that_is_too_large_is_explained_to_the_model(query, function, arguments, sentence):
    script = [calls_of(function, *arguments), text("So be it.")]
    events, calls = answer(make_query(**query), *script)
    assert not any(isinstance(event, FunctionCall) for event in events)
    assert calls[-1].messages[-1].text == sentence
