"""Several tool calls in one answer of the model, and the steps around them, over HTTP."""

from typing import Any

import pytest

from copilot_admin.models import Copilot, Logging, Outcome
from tests.conformance.strangers import NEWS, PRICE, Stranger, content, widgets
from tests.conformance.test_client import HIT, TOOL
from tests.conformance.test_everywhere import CHART, journaled
from tests.workspace.client import Event, text_of
from tests.workspace.model_server import ModelServer, Reply, calls, says

pytestmark = pytest.mark.django_db(transaction=True)

FETCH = ("get_widget_data", {"widgets": [{"id": NEWS["uuid"]}]})
DRAW = ("chart", CHART)


def asked(leg: Any) -> Any:
    """What a leg asks the client for, which is all that it says."""
    [(name, call)] = leg
    assert name == "copilotFunctionCall"
    return call


def kinds(leg: Any) -> list[str]:
    return [name for name, _ in leg]


def roles(model: ModelServer, number: int) -> list[str]:
    return [one["role"] for one in model.requests[number]["messages"]]


@pytest.mark.parametrize("order", [(FETCH, DRAW), (DRAW, FETCH)], ids=["client first", "last"])
def test_a_chart_called_with_a_widget_is_shown_when_the_data_is_there(order, chat_with, model):
    stranger = chat_with("charts", Reply(calls=order), says("It rose."))
    first, second = stranger.asks(
        "Draw it.", functions={"get_widget_data": content("[1]")}, **widgets(NEWS)
    )
    assert asked(first)["function"] == "get_widget_data"
    assert kinds(second) == ["copilotMessageArtifact", "copilotMessageChunk"]
    assert len(model.requests) == 2, "the model need not ask again"
    assert roles(model, 1) == ["system", "user", "assistant", "tool", "assistant", "tool"]
    told = model.requests[1]["messages"][-1]["content"]
    assert told == "The user now sees the line chart 'P'."
    journaled(Outcome.COMPLETED, Outcome.COMPLETED)


def test_calls_to_the_client_leave_one_after_the_other_without_asking_the_model(chat_with, model):
    three = Reply(calls=tuple(("Tool1_function_one", {"q": letter}) for letter in "abc"))
    stranger = chat_with("mcp-tools", three, says("All."))
    *first, last = stranger.asks("Find them.", functions=HIT, tools=[TOOL])
    parameters = [asked(leg)["input_arguments"]["parameters"]["q"] for leg in first]
    assert parameters == ["a", "b", "c"]
    assert text_of(last) == "All."
    assert len(model.requests) == 2
    assert model.told().count("A hit.") == 3
    journaled(*[Outcome.COMPLETED] * 4)


def both_with_one_left(stranger: Stranger, change: Any) -> Any:
    """The legs of a chart beside a widget, where the client changes what it carries."""
    stranger.chat.functions = {"get_widget_data": content("[1]")}
    stranger.chat.request = widgets(NEWS)
    stranger.chat.messages.append({"role": "human", "content": "Draw it."})
    first = stranger.chat.post()
    stranger.chat.carry_out({**asked(first), "extra_state": change(asked(first)["extra_state"])})
    return stranger.chat.go_on()


LOST: dict[str, Any] = {"copilot_function_call_arguments": {}}


@pytest.mark.parametrize(
    "change",
    [
        lambda state: LOST,
        lambda state: {**state, "copilot_memory": state["copilot_memory"][:-1] + "?"},
        lambda state: {**state, "copilot_memory": 7},
    ],
    ids=["lost", "altered", "no text"],
)
def test_a_client_that_loses_what_it_carries_only_costs_another_call(change, chat_with, model):
    stranger = chat_with(
        "charts", Reply(calls=(FETCH, DRAW)), calls(*DRAW[:1], **CHART), says("It rose.")
    )
    Copilot.objects.update(logging=Logging.METADATA)
    [second] = both_with_one_left(stranger, change)
    assert kinds(second) == ["copilotMessageArtifact", "copilotMessageChunk"]
    assert len(model.requests) == 3


STEPS = [
    {"at": "end", "type": "INFO", "message": "End"},
    {"at": "read", "type": "INFO", "message": "Read"},
    {"at": "fetch", "type": "INFO", "message": "Fetch...", "details": {"How": "at once"}},
    {"at": "start", "type": "INFO", "message": "Start"},
]
DATA = {"get_widget_data": content("[1]", "[2]"), "get_extra_widget_data": content("[3]")}


def shown(leg: list[Event]) -> list[str]:
    """The kinds of events, steps by their words."""
    return [
        data["message"] if name == "copilotStatusUpdate" else name.removeprefix("copilot")
        for name, data in leg
    ]


def test_what_the_model_asks_for_is_shown_in_each_leg_and_the_start_once(chat_with, model):
    ask = Reply(
        calls=(("get_widget_data", {"widgets": [{"id": NEWS["uuid"]}, {"id": PRICE["uuid"]}]}),)
    )
    stranger = chat_with("dashboard-explorer", ask, says("Both."), steps=STEPS)
    offered = {"widgets": {"primary": [], "secondary": [NEWS], "extra": [PRICE]}}
    first, second, third = stranger.asks("Compare them.", functions=DATA, **offered)
    assert [shown(leg) for leg in (first, second, third)] == [
        ["Start", "Fetch: Company News", "FunctionCall"],
        ["Fetch: Stock Price", "FunctionCall"],
        ["Read", "MessageChunk", "CitationCollection", "End"],
    ]
    model.plays(says("Again."))
    [again] = stranger.asks("And now?", **widgets())
    assert shown(again) == ["Start", "MessageChunk", "End"]
