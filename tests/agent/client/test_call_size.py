"""What one call asks a client for has an end, in number and size, and what it leaves out is told."""

import json

from copilot_admin.agent.client.call_size import MOST_CHARACTERS, MOST_SOURCES
from copilot_admin.agent.client.data_wishes import TOOL
from copilot_admin.agent.client.widget_data import plan_data
from copilot_admin.agent.values.engine_input import Recollection
from copilot_admin.agent.values.model_call import Finish, ToolCall
from copilot_admin.agent.values.spec import WidgetDataMode
from protocol.events import FunctionCall, MessageChunk, StatusLevel, StatusUpdate
from protocol.models import Generation, HumanMessage, WidgetParam, Widgets
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

FETCH = make_spec(widget_data=WidgetDataMode.FETCH)
ASK = make_spec(widget_data=WidgetDataMode.ASK)
LONG = "x" * (MOST_CHARACTERS // 3)


def planned(query):
    return plan_data(FETCH, query=query, recollection=Recollection())


def many(number=MOST_SOURCES + 100, **changes):
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
    assert [one["id"] for one in sources] == [f"prices_{one}" for one in range(MOST_SOURCES)]


def test_of_widgets_with_long_arguments_those_are_fetched_that_fit():
    widgets = (large_widget(1, LONG * 4), *map(large_widget, range(2, 9)), make_widget(9))
    plan = planned(make_query(widgets=Widgets(primary=widgets)))
    assert plan.fetch is not None
    assert [one.id for one in plan.fetch.sources] == ["prices_2", "prices_3", "prices_9"]


def test_what_was_not_fetched_is_told_to_model_and_user():
    widgets = many()
    results = [data("1")] * MOST_SOURCES
    query = make_query(
        HumanMessage("q"),
        *fetched_pair(widgets[:MOST_SOURCES], *results),
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


def test_nothing_is_told_where_the_client_left_a_result_out():
    first, second = make_widget(1), make_widget(2)
    query = make_query(
        HumanMessage("q"),
        *fetched_pair([first], data("1")),
        widgets=Widgets(primary=(first, second)),
    )
    assert planned(query).left_over == 0


def test_widget_that_is_selected_twice_is_fetched_once():
    query = make_query(widgets=Widgets(primary=(make_widget(1), make_widget(1), make_widget(2))))
    plan = planned(query)
    assert plan.fetch is not None
    assert [one.id for one in plan.fetch.sources] == ["prices_1", "prices_2"]


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
    (event,), _ = fetched_by(query, spec=ASK, steps=[call(TOOL.name, widgets=wanted)])
    assert isinstance(event, FunctionCall)
    assert [one["id"] for one in event.input_arguments["data_sources"]] == ["prices_1", "prices_2"]


def test_model_that_wants_too_many_widgets_is_told():
    widgets = many(2)
    year = [{"id": widgets[0].ref, "params": {"symbol": str(one)}} for one in range(300)]
    query = make_query(widgets=Widgets(secondary=widgets))
    steps = [calls_of(TOOL.name, {"widgets": year}, {"widgets": year}), text("So be it.")]
    events, calls = fetched_by(query, spec=ASK, steps=steps)
    assert not any(isinstance(event, FunctionCall) for event in events)
    assert told(calls) == (
        "The data of more than 500 widgets is wanted at once. Ask for that which the answer needs."
    )
    one_call = [calls_of(TOOL.name, {"widgets": year * 2}), text("So be it.")]
    _, calls = fetched_by(query, spec=ASK, steps=one_call)
    assert "at most 500 items" in told(calls)


def test_model_that_wants_one_widget_that_is_too_large_is_told():
    widget = large_widget(1, LONG * 4)
    query = make_query(widgets=Widgets(secondary=(widget,)))
    steps = [call(TOOL.name, widgets=[{"id": widget.ref}]), text("So be it.")]
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


def test_changes_of_the_dashboard_have_an_end_too():
    widget = large_widget()
    query = make_query(
        widgets=Widgets(secondary=(widget,)), workspace_options={"generative-ui": True}
    )
    named = {"widget_uuid": widget.uuid, "input_args": {"year": 1}}
    for function in ("update_widget_in_dashboard", "add_widget_to_dashboard"):
        steps = [calls_of(function, {"data_sources": [named] * 10}), text("So be it.")]
        _, calls = fetched_by(query, steps=steps)
        assert "is longer than 1 MB" in told(calls)
