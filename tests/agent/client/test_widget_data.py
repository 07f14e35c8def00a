"""Which widgets a client is asked for, when, and how often."""

import pytest

from copilot_admin.agent.client.widget_data import plan_data
from copilot_admin.agent.client.widgets import (
    DATA_TOOL,
    WidgetLookup,
    plan_data_call,
    read_data_requests,
)
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from copilot_admin.agent.values.engine_input import Recollection
from copilot_admin.agent.values.model_call import ToolCall
from copilot_admin.agent.values.spec import WidgetDataMode
from copilot_admin.agent.warning_events import warning_events
from protocol.events import FunctionCall, MessageChunk
from protocol.models import (
    ContextItem,
    Generation,
    HumanMessage,
    Message,
    ResultMessage,
    SourceError,
    Widgets,
)
from tests.agent.engine_inputs import (
    asked_arguments,
    data,
    events_of,
    fetched_pair,
    make_engine_input,
    make_query,
    make_spec,
    make_widget,
    outputs_of,
    recalling,
    second_leg,
)
from tests.agent.scripted import ScriptedProvider, call, text

FETCH = make_spec(widget_data=WidgetDataMode.FETCH)
ASK = make_spec(widget_data=WidgetDataMode.ASK)
LOOPED = (
    "The dashboard sent the question again without the data it was asked for, so this answer "
    "does without it. Ask again in a new chat if it should not."
)
TOO_OFTEN = (
    "The dashboard was already asked for data 4 times for this question, so this answer uses what "
    "there is. Ask again about fewer widgets."
)


def planned(query, *, spec=FETCH, recollection=None):
    return plan_data(spec, query=query, recollection=recollection or Recollection())


def asked(*wanted, query, spec=ASK):
    calls = [
        ToolCall(id=str(number), name=DATA_TOOL.name, arguments=arguments)
        for number, arguments in enumerate(wanted)
    ]
    widgets = WidgetLookup(query)
    wishes = [wish for call in calls for wish in read_data_requests(call, widgets=widgets)]
    return plan_data_call(wishes, plan=planned(query, spec=spec), query=query)[0]


def refs(widgets):
    return [widget.ref for widget in widgets]


def test_off_neither_fetches_nor_offers_but_results_still_reach_the_model():
    spec = make_spec(widget_data=WidgetDataMode.OFF)
    query = second_leg(make_widget(), data('[{"close": 1.5}]'))
    with ScriptedProvider([text("ok")]) as provider:
        outputs_of(make_engine_input(provider, query=query, spec=spec))
    assert provider.calls[0].tools == ()
    assert '[{"close": 1.5}]' in provider.calls[0].messages[-1].text


def test_fetch_takes_all_selected_widgets_at_once_and_offers_the_others():
    first, second, dashboard, extra = (make_widget(number) for number in range(1, 5))
    query = make_query(
        widgets=Widgets(primary=(first, second), secondary=(dashboard,), extra=(extra,))
    )
    plan = planned(query)
    assert plan.fetch is not None
    assert [source.id for source in plan.fetch.sources] == ["prices_1", "prices_2"]
    assert refs(plan.offered) == refs([first, second, dashboard, extra])


def test_ask_offers_every_group_and_fetches_nothing():
    query = make_query(widgets=Widgets(primary=(make_widget(),), extra=(make_widget(2),)))
    plan = planned(query, spec=ASK)
    assert (plan.fetch, len(plan.offered)) == (None, 2)


def test_fetch_without_selected_widgets_asks_the_model():
    assert planned(make_query(widgets=Widgets(secondary=(make_widget(),)))).fetch is None


def test_fetch_is_not_repeated_in_the_second_leg_even_for_a_widget_that_is_new():
    first, second = make_widget(1), make_widget(2)
    query = make_query(
        HumanMessage("q"),
        *fetched_pair([first], data("1")),
        widgets=Widgets(primary=(first, second)),
    )
    assert planned(query).fetch is None


def test_fetch_happens_again_in_the_next_turn():
    widget = make_widget()
    query = make_query(
        HumanMessage("q"),
        *fetched_pair([widget], data("1")),
        HumanMessage("and now?"),
        widgets=Widgets(primary=(widget,)),
    )
    assert planned(query).fetch is not None


def test_generation_one_fetches_one_widget_a_leg_until_it_has_all():
    widgets = tuple(
        make_widget(number, origin="", widget_id="", params=()) for number in range(1, 4)
    )
    messages: list[Message] = [HumanMessage("q")]
    fetched = []
    while True:
        query = make_query(*messages, widgets=Widgets(primary=widgets), generation=Generation.ONE)
        plan = planned(query)
        if plan.fetch is None:
            break
        (source,) = plan.fetch.sources
        fetched.append(source.widget_uuid)
        messages.append(
            ResultMessage("get_widget_data", {"widget_uuid": source.widget_uuid}, (data("text"),))
        )
    assert fetched == [widget.uuid for widget in widgets]
    assert plan.offered == ()


def test_generation_one_stops_after_four_widgets_with_a_warning():
    widgets = tuple(
        make_widget(number, origin="", widget_id="", params=()) for number in range(1, 6)
    )
    results = (
        ResultMessage("get_widget_data", {"widget_uuid": widget.uuid}, (data("text"),))
        for widget in widgets[:4]
    )
    query = make_query(
        HumanMessage("q"), *results, widgets=Widgets(primary=widgets), generation=Generation.ONE
    )
    assert planned(query).missing == ("Prices 5",)
    with ScriptedProvider([text("Four.")]) as provider:
        events = events_of(make_engine_input(provider, query=query, spec=FETCH))
    assert events[:4] == [
        *warning_events(TOO_OFTEN),
        MessageChunk("\n\n"),
        MessageChunk("Four."),
    ]


def test_generation_one_does_not_fetch_what_the_context_holds():
    given, other = make_widget(1), make_widget(2)
    query = make_query(
        widgets=Widgets(primary=(given, other)),
        context=(ContextItem(uuid=given.uuid, data=data("1.5")),),
        generation=Generation.ONE,
    )
    plan = planned(query)
    assert plan.fetch is not None
    assert [source.widget_uuid for source in plan.fetch.sources] == [other.uuid]


def test_looped_question_is_answered_without_data_and_with_a_warning():
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    recall = recalling(Recollection(looped=True))
    with ScriptedProvider([text("I have no data.")]) as provider:
        events = events_of(make_engine_input(provider, query=query, spec=FETCH, recall=recall))
    assert events == [
        *warning_events(LOOPED),
        MessageChunk("\n\n"),
        MessageChunk("I have no data."),
    ]


@pytest.mark.parametrize(("calls", "fetched"), [(3, True), (4, False)])
def test_calls_that_only_the_server_remembers_count(calls, fetched):
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    plan = planned(query, recollection=Recollection(client_calls={"get_widget_data": calls}))
    assert (plan.fetch is not None) is fetched


def test_model_that_asks_once_too_often_is_refused_and_the_user_warned():
    widget = make_widget()
    turn = [
        message
        for number in range(4)
        for message in fetched_pair([make_widget(number + 2)], data("1"))
    ]
    query = make_query(HumanMessage("q"), *turn, widgets=Widgets(primary=(widget,)))
    script = [call(DATA_TOOL.name, widgets=[{"id": widget.ref}]), text("With what I have.")]
    with ScriptedProvider(script) as provider:
        events = events_of(make_engine_input(provider, query=query, spec=ASK))
    gap = MessageChunk("\n\n")
    assert events[:4] == [*warning_events(TOO_OFTEN), gap, MessageChunk("With what I have.")]
    assert provider.calls[1].messages[-1].text == f"{TOO_OFTEN} Answer with what you have."
    assert provider.calls[1].tools == ()


def test_fourth_call_is_still_made():
    widget = make_widget()
    turn = [
        message
        for number in range(3)
        for message in fetched_pair([make_widget(number + 2)], data("1"))
    ]
    query = make_query(HumanMessage("q"), *turn, widgets=Widgets(primary=(widget,)))
    with ScriptedProvider([call(DATA_TOOL.name, widgets=[{"id": widget.ref}])]) as provider:
        (event,) = events_of(make_engine_input(provider, query=query, spec=ASK))
    assert isinstance(event, FunctionCall)


def test_ids_of_tabs_are_neither_fetched_nor_offered():
    tabs = (make_widget(1, uuid="tab_1"), make_widget(2, uuid=None, widget_id="tab_2"))
    assert planned(make_query(widgets=Widgets(primary=tabs))).offered == ()


def test_widget_without_any_id_is_not_asked_for():
    nameless = make_widget(uuid=None, widget_id="")
    assert planned(make_query(widgets=Widgets(primary=(nameless,)))).fetch is None


def test_failed_source_is_not_fetched_again_with_the_same_arguments():
    widget = make_widget(params=())
    query = make_query(
        HumanMessage("q"),
        *fetched_pair([widget], SourceError("not_found", "gone")),
        widgets=Widgets(primary=(widget,)),
    )
    assert planned(query, spec=ASK).offered == ()


def test_fetched_widget_with_parameters_may_be_asked_for_other_values_only():
    widget = make_widget()
    query = second_leg(widget, data("1"))
    other = asked(
        f'{{"widgets": [{{"id": "{widget.ref}", "params": {{"symbol": "MSFT"}}}}]}}', query=query
    )
    assert other.sources[0].input_args == {"symbol": "MSFT"}
    with pytest.raises(ToolMistake, match="already above; answer from it"):
        asked(f'{{"widgets": [{{"id": "{widget.ref}"}}]}}', query=query)


def test_invented_id_is_told_with_the_ids_there_are():
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    script = [call(DATA_TOOL.name, widgets=[{"id": "w-99"}]), text("Sorry.")]
    with ScriptedProvider(script) as provider:
        events_of(make_engine_input(provider, query=query, spec=ASK))
    assert provider.calls[1].messages[-1].text == (
        "There is no widget with the id 'w-99'. Offered ids: 00000001-6f54-4f7c-9b3a-0d4c7d3f1a01."
    )


def test_parameter_that_the_widget_lacks_is_told_with_those_it_has():
    query = make_query(widgets=Widgets(primary=(make_widget(),)))
    wanted = '{"widgets": [{"id": "prices_1", "params": {"ticker": "X"}}]}'
    with pytest.raises(ToolMistake, match="has no parameter 'ticker'"):
        asked(wanted, query=query)


@pytest.mark.parametrize("name", ["prices_1", "Prices 1"])
def test_widget_is_found_by_a_name_that_only_it_has(name):
    query = make_query(widgets=Widgets(primary=(make_widget(1), make_widget(2))))
    wanted = asked(f'{{"widgets": [{{"id": "{name}"}}]}}', query=query)
    assert [source.id for source in wanted.sources] == ["prices_1"]


def test_name_of_two_widgets_is_not_guessed():
    twins = (make_widget(1, name="Prices"), make_widget(2, name="Prices"))
    with pytest.raises(ToolMistake, match="There is no widget with the id 'Prices'"):
        asked('{"widgets": [{"id": "Prices"}]}', query=make_query(widgets=Widgets(primary=twins)))


def test_widget_without_uuid_is_asked_by_origin_and_id():
    widget = make_widget(uuid=None)
    query = make_query(widgets=Widgets(primary=(widget,)))
    wanted = asked('{"widgets": [{"id": "OpenBB API/prices_1"}]}', query=query)
    assert wanted.sources[0].to_json() == {
        "origin": "OpenBB API",
        "id": "prices_1",
        "input_args": {"symbol": "SYM1"},
    }


@pytest.mark.parametrize(
    ("generation", "function"),
    [
        (Generation.TWO, "get_widget_data"),
        (Generation.THREE, "get_extra_widget_data"),
    ],
)
def test_extra_widgets_have_a_function_of_their_own_in_generation_three(generation, function):
    query = make_query(widgets=Widgets(extra=(make_widget(),)), generation=generation)
    assert asked('{"widgets": [{"id": "prices_1"}]}', query=query).function == function


def test_widgets_of_the_dashboard_go_before_extra_ones():
    query = make_query(widgets=Widgets(secondary=(make_widget(1),), extra=(make_widget(2),)))
    wanted = asked('{"widgets": [{"id": "prices_2"}, {"id": "prices_1"}]}', query=query)
    assert (wanted.function, [one.id for one in wanted.sources]) == (
        "get_widget_data",
        ["prices_1"],
    )


def test_several_calls_become_one_and_each_source_is_asked_once():
    query = make_query(widgets=Widgets(primary=(make_widget(1), make_widget(2))))
    wanted = asked(
        '{"widgets": [{"id": "prices_1"}, {"id": "prices_1"}]}',
        '{"widgets": [{"id": "prices_2"}]}',
        query=query,
    )
    assert [one.id for one in wanted.sources] == ["prices_1", "prices_2"]


def test_generation_one_asks_for_the_first_of_several_widgets():
    query = make_query(
        widgets=Widgets(primary=(make_widget(1), make_widget(2))), generation=Generation.ONE
    )
    wanted = asked('{"widgets": [{"id": "prices_2"}, {"id": "prices_1"}]}', query=query)
    assert [one.id for one in wanted.sources] == ["prices_2"]


def test_arguments_of_the_call_are_the_values_of_the_dashboard():
    widget = make_widget()
    query = make_query(widgets=Widgets(primary=(widget,)))
    with ScriptedProvider([call(DATA_TOOL.name, widgets=[{"id": widget.ref}])]) as provider:
        (event,) = events_of(make_engine_input(provider, query=query, spec=ASK))
    assert isinstance(event, FunctionCall)
    assert event.input_arguments == asked_arguments(widget)
