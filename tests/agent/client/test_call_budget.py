"""How often a question may call the client: each function by itself, and all of them together."""

import pytest

from copilot_admin.agent.client.call_budget import WIDGET_DATA_WORDS, CallWords, call_budget
from copilot_admin.agent.client_functions.registry import function_named, labels, names
from copilot_admin.agent.values.engine_input import Recollection
from copilot_admin.agent.values.spec import CallLimit
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.models import CallMessage, HumanMessage, ResultMessage
from tests.agent.engine_inputs import make_query, make_spec

TOOL = "execute_agent_tool"
WORDS = CallWords(done="Tools were already called", no_more="no more tools are called")


def budget(*functions: str, remembered=None, looped=False, **spec):
    calls = [CallMessage(function) for function in functions]
    recollection = Recollection(client_calls=remembered or {}, looped=looped)
    query = make_query(HumanMessage("q"), *calls)
    return call_budget(make_spec(**spec), query=query, recollection=recollection)


def of_data(*functions: str, **more):
    return budget(*functions, **more).refusal("get_widget_data", WIDGET_DATA_WORDS)


def of_tools(*functions: str, **more):
    return budget(*functions, **more).refusal(TOOL, WORDS)


def test_data_is_fetched_four_times_and_both_functions_for_it_count():
    three = ["get_widget_data"] * 2 + ["get_extra_widget_data"]
    assert of_data(*three) == ""
    assert of_data(*three, "get_widget_data") == (
        "The dashboard was already asked for data 4 times for this question, so this answer uses "
        "what there is. Ask again about fewer widgets."
    )
    extra = budget(*three, "get_widget_data").refusal("get_extra_widget_data", WIDGET_DATA_WORDS)
    assert extra == of_data(*three, "get_widget_data")


def test_what_one_function_has_used_up_is_nothing_to_another():
    assert of_tools(*["get_widget_data"] * 4) == ""
    assert of_data(*[TOOL] * 15) == ""


def test_sixteen_calls_are_the_most_of_all_functions_together():
    assert of_tools(*[TOOL] * 15) == ""
    assert of_tools(*[TOOL] * 12, *["save_skill"] * 4) == (
        "Workspace was already called 16 times for this question, so no more tools are called. "
        "Ask again to go on."
    )
    assert of_data(*[TOOL] * 16) == (
        "Workspace was already called 16 times for this question, so this answer uses what there "
        "is. Ask again to go on."
    )


def test_a_builder_sets_both():
    limits = (CallLimit(function=TOOL, most=1),)
    assert of_tools(TOOL, client_call_limits=limits) == (
        "Tools were already called once for this question, so no more tools are called. Ask again "
        "to go on."
    )
    assert of_data(*["get_widget_data"] * 5, client_call_limits=limits) == ""
    assert of_data(*["get_widget_data"] * 5, client_call_limits=limits, max_client_calls=5) != ""
    assert of_tools(TOOL, max_client_calls=2) == ""


def test_calls_of_an_earlier_question_do_not_count():
    query = make_query(
        HumanMessage("q"), *[ResultMessage("get_widget_data")] * 5, HumanMessage("And now?")
    )
    fresh = call_budget(make_spec(), query=query, recollection=Recollection())
    assert (fresh.in_all, fresh.refusal("get_widget_data", WIDGET_DATA_WORDS)) == (0, "")


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


def test_words_and_labels_tell_functions_apart():
    functions = [one for name in names() if (one := function_named(name)) is not None]
    words = [(one.words.done, one.words.no_more) for one in functions if one.words != CallWords()]
    assert words
    assert len(set(words)) == len(words)
    own = labels().keys() - {"get_widget_data"}
    assert own == set(names()) - WIDGET_DATA_FUNCTIONS
    assert len(set(labels().values())) == len(labels())
