"""Which widgets a client is asked for, and when."""

import json

import pytest

from copilot_admin.agent.client.widget_data import plan_data
from copilot_admin.agent.client.widgets import (
    DATA_TOOL,
    WidgetLookup,
    plan_data_call,
    read_data_requests,
)
from copilot_admin.agent.tools.tool import ToolMistake
from copilot_admin.agent.values.answer_request import StoredTurn
from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.agent.values.spec import WidgetDataMode
from protocol.models import (
    ContextItem,
    Generation,
    HumanMessage,
    SourceError,
    Widgets,
)
from tests.agent.answer_requests import (
    data,
    events_of,
    fetched_pair,
    make_query,
    make_request,
    make_spec,
    make_widget,
    second_step,
)
from tests.agent.scripted import ScriptedProvider, text

FETCH = make_spec(widget_data=WidgetDataMode.FETCH)
ASK = make_spec(widget_data=WidgetDataMode.ASK)
OFF = make_spec(widget_data=WidgetDataMode.OFF)
ONE, TWO, THREE = (make_widget(number) for number in (1, 2, 3))
QUESTION = HumanMessage("q")


def planned(query, *, spec=FETCH, stored_turn=None):
    return plan_data(spec, query=query, stored_turn=stored_turn or StoredTurn())


def fetched(query, **more):
    plan = planned(query, **more)
    return [source.id for source in plan.fetch.sources] if plan.fetch else []


def wanted(*calls, query, spec=ASK):
    """The client function call for calls of the model, each the widgets that it names."""
    lookup = WidgetLookup(query)
    made = [
        ToolCall(id=str(number), name=DATA_TOOL.name, arguments=json.dumps({"widgets": widgets}))
        for number, widgets in enumerate(calls)
    ]
    requests = [one for call in made for one in read_data_requests(call, widgets=lookup)]
    return plan_data_call(requests, plan=planned(query, spec=spec), query=query)[0]


def answer(query, *script, spec=ASK, **more):
    with ScriptedProvider(script) as provider:
        return events_of(make_request(provider, query=query, spec=spec, **more)), provider.calls


def after(*widgets, messages=(), **groups):
    """A query in whose turn the data of some widgets has come."""
    pairs = [message for one in widgets for message in fetched_pair([one], data("1"))]
    return make_query(QUESTION, *pairs, *messages, widgets=Widgets(**groups))


@pytest.mark.parametrize(
    ("spec", "groups", "ids", "offered"),
    [
        (FETCH, {"primary": (ONE, TWO), "secondary": (THREE,)}, ["prices_1", "prices_2"], 3),
        (FETCH, {"secondary": (ONE,)}, [], 1),
        (ASK, {"primary": (ONE,), "extra": (TWO,)}, [], 2),
        (OFF, {"primary": (ONE,)}, [], 0),
        (FETCH, {"primary": (ONE, ONE, TWO)}, ["prices_1", "prices_2"], 2),
        (FETCH, {"primary": (make_widget(1, uuid="tab_1"),)}, [], 0),
        (FETCH, {"primary": (make_widget(uuid=None, widget_id="tab_2"),)}, [], 0),
        (FETCH, {"primary": (make_widget(uuid=None, widget_id=""),)}, [], 0),
    ],
)
def test_the_mode_decides_what_is_fetched_and_offered(spec, groups, ids, offered):
    plan = planned(make_query(widgets=Widgets(**groups)), spec=spec)
    assert ([source.id for source in plan.fetch.sources] if plan.fetch else []) == ids
    assert len({widget.ref for widget in plan.offered}) == offered


HELD = {"context": (ContextItem(uuid=ONE.uuid, data=data("1.5")),), "generation": Generation.ONE}


@pytest.mark.parametrize(
    ("query", "stored_calls", "ids"),
    [
        (after(ONE, primary=(ONE, TWO)), 0, []),
        (after(ONE, messages=[HumanMessage("and now?")], primary=(ONE,)), 0, ["prices_1"]),
        (make_query(QUESTION, widgets=Widgets(primary=(ONE, TWO)), **HELD), 0, ["prices_2"]),
        (make_query(widgets=Widgets(primary=(ONE,))), 3, ["prices_1"]),
        (make_query(widgets=Widgets(primary=(ONE,))), 4, []),
    ],
    ids=["fetched", "next turn", "in the context of generation 1", "may be asked", "was asked"],
)
def test_selected_widgets_are_fetched_once_a_turn(query, stored_calls, ids):
    stored_turn = StoredTurn(client_calls={"get_widget_data": stored_calls})
    assert fetched(query, stored_turn=stored_turn) == ids


def test_results_reach_the_model_even_if_nothing_more_is_fetched():
    _, calls = answer(second_step(make_widget(), data('[{"close": 1.5}]')), text("ok"), spec=OFF)
    assert calls[0].tools == ()
    assert '[{"close": 1.5}]' in calls[0].messages[-1].text


def test_a_failed_source_is_not_offered_again_with_the_same_arguments():
    widget = make_widget(params=())
    pair = fetched_pair([widget], SourceError("not_found", "gone"))
    query = make_query(QUESTION, *pair, widgets=Widgets(primary=(widget,)))
    assert planned(query, spec=ASK).offered == ()


def test_a_fetched_widget_may_be_asked_for_other_values_only():
    query = second_step(ONE, data("1"))
    other = wanted([{"id": ONE.ref, "params": {"symbol": "MSFT"}}], query=query)
    assert other.sources[0].input_args == {"symbol": "MSFT"}
    with pytest.raises(ToolMistake, match="already above; answer from it"):
        wanted([{"id": ONE.ref}], query=query)


@pytest.mark.parametrize(
    ("generation", "groups", "calls", "function", "ids"),
    [
        (3, {"primary": (ONE, TWO)}, [["Prices 1"]], "get_widget_data", ["prices_1"]),
        (3, {"primary": (ONE, TWO)}, [["prices_1", "prices_1"], ["prices_2"]], "get_widget_data",
         ["prices_1", "prices_2"]),
        (3, {"extra": (ONE,)}, [["prices_1"]], "get_extra_widget_data", ["prices_1"]),
        (2, {"extra": (ONE,)}, [["prices_1"]], "get_widget_data", ["prices_1"]),
        (3, {"secondary": (ONE,), "extra": (TWO,)}, [["prices_2", "prices_1"]], "get_widget_data",
         ["prices_1"]),
        (1, {"primary": (ONE, TWO)}, [["prices_2", "prices_1"]], "get_widget_data", ["prices_2"]),
        (3, {"primary": (make_widget(uuid=None),)}, [["OpenBB API/prices_1"]], "get_widget_data",
         ["prices_1"]),
    ],
)  # fmt: skip
def test_calls_of_the_model_become_one_call_of_the_client(generation, groups, calls, function, ids):
    query = make_query(widgets=Widgets(**groups), generation=Generation(generation))
    made = wanted(*([{"id": id} for id in one] for one in calls), query=query)
    assert (made.function, [source.id for source in made.sources]) == (function, ids)
