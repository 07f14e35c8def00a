"""How often a question may call the client, and how much one call may ask for."""

import json

import pytest

from copilot_admin.agent.client.limits import (
    MAX_CHARACTERS,
    MAX_SOURCES,
    WIDGET_DATA_MESSAGES,
    CallLimitMessages,
    call_budget,
)
from copilot_admin.agent.client.widget_data import plan_data
from copilot_admin.agent.client.widgets import DATA_TOOL
from copilot_admin.agent.client_functions.registry import CLIENT_FUNCTIONS, labels, names
from copilot_admin.agent.values.engine_input import Recollection
from copilot_admin.agent.values.model_call import Finish, ToolCall
from copilot_admin.agent.values.spec import CallLimit, WidgetDataMode
from protocol.events import FunctionCall, MessageChunk, StatusLevel, StatusUpdate
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.models import (
    CallMessage,
    Generation,
    HumanMessage,
    ResultMessage,
    WidgetParam,
    Widgets,
)
from tests.agent.engine_inputs import (
    data,
    events_of,
    fetched_pair,
    make_engine_input,
    make_query,
    make_spec,
    make_widget,
)
from tests.agent.scripted import ScriptedProvider, Step, call, text

MCP = "execute_agent_tool"
MCP_MESSAGES = CallLimitMessages(
    done="Tools were already called", no_more="no more tools are called"
)


def budget(*functions: str, remembered=None, looped=False, **spec):
    calls = [CallMessage(function) for function in functions]
    recollection = Recollection(client_calls=remembered or {}, looped=looped)
    query = make_query(HumanMessage("q"), *calls)
    return call_budget(make_spec(**spec), query=query, recollection=recollection)


def of_data(*functions: str, **more):
    return budget(*functions, **more).refusal("get_widget_data", WIDGET_DATA_MESSAGES)


def of_tools(*functions: str, **more):
    return budget(*functions, **more).refusal(MCP, MCP_MESSAGES)


def test_data_is_fetched_four_times_and_both_functions_for_it_count():
    three = ["get_widget_data"] * 2 + ["get_extra_widget_data"]
    assert of_data(*three) == ""
    assert of_data(*three, "get_widget_data") == (
        "The dashboard was already asked for data 4 times for this question, so this answer uses "
        "what there is. Ask again about fewer widgets."
    )
    extra = budget(*three, "get_widget_data").refusal("get_extra_widget_data", WIDGET_DATA_MESSAGES)
    assert extra == of_data(*three, "get_widget_data")


def test_what_one_function_has_used_up_is_nothing_to_another():
    assert of_tools(*["get_widget_data"] * 4) == ""
    assert of_data(*[MCP] * 15) == ""


def test_sixteen_calls_are_the_most_of_all_functions_together():
    assert of_tools(*[MCP] * 15) == ""
    assert of_tools(*[MCP] * 12, *["save_skill"] * 4) == (
        "Workspace was already called 16 times for this question, so no more tools are called. "
        "Ask again to go on."
    )
    assert of_data(*[MCP] * 16) == (
        "Workspace was already called 16 times for this question, so this answer uses what there "
        "is. Ask again to go on."
    )


def test_a_builder_sets_both():
    limits = (CallLimit(function=MCP, most=1),)
    assert of_tools(MCP, client_call_limits=limits) == (
        "Tools were already called once for this question, so no more tools are called. Ask again "
        "to go on."
    )
    assert of_data(*["get_widget_data"] * 5, client_call_limits=limits) == ""
    assert of_data(*["get_widget_data"] * 5, client_call_limits=limits, max_client_calls=5) != ""
    assert of_tools(MCP, max_client_calls=2) == ""


def test_calls_of_an_earlier_question_do_not_count():
    query = make_query(
        HumanMessage("q"), *[ResultMessage("get_widget_data")] * 5, HumanMessage("And now?")
    )
    fresh = call_budget(make_spec(), query=query, recollection=Recollection())
    assert (fresh.in_all, fresh.refusal("get_widget_data", WIDGET_DATA_MESSAGES)) == (0, "")


@pytest.mark.parametrize(
    ("said", "remembered", "spent"),
    [
        (3, {"get_widget_data": 4}, True),
        (4, {"get_widget_data": 3}, True),
        (2, {"get_widget_data": 2}, False),
        (0, {"get_widget_data": 2, "get_extra_widget_data": 2}, True),
        (3, {"": 15}, False),
        (3, {"": 16}, True),
    ],
)
def test_of_what_is_said_and_what_is_remembered_the_larger_number_counts(said, remembered, spent):
    refusal = of_data(*["get_widget_data"] * said, remembered=remembered)
    assert bool(refusal) is spent


def test_a_loop_is_told_in_words_that_fit_what_is_not_done():
    assert of_data(looped=True) == (
        "The dashboard sent the question again without the data it was asked for, so this answer "
        "does without it. Ask again in a new chat if it should not."
    )
    assert of_tools(looped=True) == (
        "The dashboard sent the question again without the result of what it was asked to do, so "
        "this answer does without it. Ask again in a new chat if it should not."
    )


def test_messages_and_labels_tell_functions_apart():
    given = [one.limit_messages for one in CLIENT_FUNCTIONS]
    own = [(one.done, one.no_more) for one in given if one != CallLimitMessages()]
    assert len(set(own)) == len(own) > 0
    assert labels().keys() - {"get_widget_data"} == set(names()) - WIDGET_DATA_FUNCTIONS
    assert len(set(labels().values())) == len(labels())


FETCH = make_spec(widget_data=WidgetDataMode.FETCH)
ASK = make_spec(widget_data=WidgetDataMode.ASK)
LONG = "x" * (MAX_CHARACTERS // 3)


def planned(query):
    return plan_data(FETCH, query=query, recollection=Recollection())


def many(number=MAX_SOURCES + 100, **changes):
    return tuple(make_widget(one, **changes) for one in range(number))


def large_widget(number=1, value=LONG):
    params = (WidgetParam(name="note", current_value=value), WidgetParam(name="year"))
    return make_widget(number, params=params)


def fetched_by(query, *, spec=FETCH, steps=()):
    with ScriptedProvider(list(steps)) as provider:
        return events_of(make_engine_input(provider, query=query, spec=spec)), provider.calls


def calls_of(name, *arguments):
    calls = (
        ToolCall(id=str(number), name=name, arguments=json.dumps(one))
        for number, one in enumerate(arguments)
    )
    return Step((*calls, Finish("tool_calls")))


def told(calls):
    return calls[-1].messages[-1].text


def test_of_very_many_selected_widgets_the_first_are_fetched():
    (event,), _ = fetched_by(make_query(widgets=Widgets(primary=many())))
    assert isinstance(event, FunctionCall)
    sources = event.input_arguments["data_sources"]
    assert [one["id"] for one in sources] == [f"prices_{one}" for one in range(MAX_SOURCES)]


def test_of_widgets_with_long_arguments_those_are_fetched_that_fit():
    widgets = (large_widget(1, LONG * 4), *map(large_widget, range(2, 9)), make_widget(9))
    plan = planned(make_query(widgets=Widgets(primary=widgets)))
    assert plan.fetch is not None
    assert [one.id for one in plan.fetch.sources] == ["prices_2", "prices_3", "prices_9"]


def test_what_was_not_fetched_is_told_to_model_and_user():
    widgets = many()
    results = [data("1")] * MAX_SOURCES
    query = make_query(
        HumanMessage("q"),
        *fetched_pair(widgets[:MAX_SOURCES], *results),
        widgets=Widgets(primary=widgets),
    )
    events, calls = fetched_by(query, steps=[text("Of some.")])
    assert events[:2] == [
        StatusUpdate(
            message="The data of 100 selected widgets was not fetched, since that would be too much "
            "at once. Select fewer to have all of it.",
            level=StatusLevel.WARNING,
        ),
        MessageChunk("Of some."),
    ]
    assert (
        calls[0]
        .messages[0]
        .text.endswith(
            "The data of 100 more selected widgets was not fetched, since that would be too much at once. "
            "If the answer needs it, ask for it with get_widget_data; else say that it is missing."
        )
    )


def test_widget_too_large_to_be_asked_for_alone_is_told():
    query = make_query(widgets=Widgets(primary=(large_widget(1, LONG * 4),)))
    events, _ = fetched_by(query, steps=[text("Without it.")])
    assert isinstance(events[0], StatusUpdate)
    assert events[0].message.startswith("The data of 1 selected widgets was not fetched")


def test_generation_one_goes_on_to_what_can_be_asked_for():
    widgets = (large_widget(1, LONG * 4), make_widget(2), make_widget(3))
    plan = planned(make_query(widgets=Widgets(primary=widgets), generation=Generation.ONE))
    assert plan.fetch is not None
    assert [one.id for one in plan.fetch.sources] == ["prices_2"]


def test_what_a_model_wants_beyond_the_size_of_one_call_waits_for_the_next():
    widgets = tuple(map(large_widget, range(1, 6)))
    wanted = [{"id": widget.ref} for widget in widgets]
    query = make_query(widgets=Widgets(secondary=widgets))
    (event,), _ = fetched_by(query, spec=ASK, steps=[call(DATA_TOOL.name, widgets=wanted)])
    assert isinstance(event, FunctionCall)
    assert [one["id"] for one in event.input_arguments["data_sources"]] == ["prices_1", "prices_2"]


def test_model_that_wants_too_many_widgets_is_told():
    widgets = many(2)
    year = [{"id": widgets[0].ref, "params": {"symbol": str(one)}} for one in range(300)]
    query = make_query(widgets=Widgets(secondary=widgets))
    steps = [calls_of(DATA_TOOL.name, {"widgets": year}, {"widgets": year}), text("So be it.")]
    events, calls = fetched_by(query, spec=ASK, steps=steps)
    assert not any(isinstance(event, FunctionCall) for event in events)
    assert told(calls) == (
        "The data of more than 500 widgets is wanted at once. Ask for that which the answer needs."
    )
    one_call = [calls_of(DATA_TOOL.name, {"widgets": year * 2}), text("So be it.")]
    _, calls = fetched_by(query, spec=ASK, steps=one_call)
    assert "at most 500 items" in told(calls)


def test_model_that_wants_one_widget_that_is_too_large_is_told():
    widget = large_widget(1, LONG * 4)
    query = make_query(widgets=Widgets(secondary=(widget,)))
    steps = [call(DATA_TOOL.name, widgets=[{"id": widget.ref}]), text("So be it.")]
    _, calls = fetched_by(query, spec=ASK, steps=steps)
    assert told(calls) == (
        "The call of 'get_widget_data' is longer than 1 MB, with what Workspace knows of the widgets "
        "and agents that it names. Ask for less at once."
    )


def test_no_other_function_is_called_with_more_than_that():
    agent = {"id": "a", "name": "A", "holder_url": f"https://{'x' * 100_000}", "features": {}}
    query = make_query(workspace_state={"agents": [agent]})
    tasks = [{"description": "Look.", "assigned_agent_id": "a"}] * 20
    steps = [calls_of("assign_tasks_to_agents", {"task_requests": tasks}), text("So be it.")]
    _, calls = fetched_by(query, steps=steps)
    assert "is longer than 1 MB" in told(calls)
