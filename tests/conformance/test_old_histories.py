"""A chat that an older client began is answered in the dialect of the client that asks now."""

import json
from typing import Any

import pytest

from copilot_admin.models import Run
from protocol.models import Generation
from tests.conformance.dialects import asks, brought, offered
from tests.conformance.strangers import NEWS, NEWS_SOURCE, Stranger, content, import_template
from tests.conformance.test_generations import ONE, ROWS, TWO
from tests.wire import Line
from tests.workspace.client import named
from tests.workspace.model_server import calls, says
from tests.workspace.stream import events_of

pytestmark = pytest.mark.django_db(transaction=True)

UUID = str(NEWS["uuid"])
HUMAN = {"role": "human", "content": "What was new?"}
ANSWER = {"role": "ai", "content": "It rose."}


def _call(arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = {"function": "get_widget_data", "input_arguments": arguments, **more}
    return {"role": "ai", "content": json.dumps(made)}


OLD: dict[str, list[dict[str, Any]]] = {
    "1": [
        HUMAN,
        _call({"widget_uuid": UUID}, copilot_function_call_arguments={"widget_uuid": UUID}),
        {"role": "tool", "function": "get_widget_data", "data": {"content": "Old news."}},
        ANSWER,
    ],
    "1, as text": [
        HUMAN,
        _call({"widget_uuid": UUID}),
        {"role": "tool", "function": "get_widget_data", "content": "Old news."},
        ANSWER,
    ],
    "2": [
        HUMAN,
        _call({"data_sources": [NEWS_SOURCE]}, copilot_function_call_arguments={}),
        {
            "role": "tool",
            "function": "get_widget_data",
            "copilot_function_call_arguments": {},
            "data": [{"content": "Old news.", "data_format": {"type": "text"}}],
        },
        ANSWER,
    ],
}
HISTORIES = pytest.mark.parametrize("history", OLD.values(), ids=OLD)


@HISTORIES
def test_workspace_of_today_is_asked_for_data_in_its_own_words(history, service_url, model):
    stranger = Stranger("widget-reader", says("It fell."), service=service_url, model=model)
    stranger.chat.messages = list(history)
    first, second = stranger.asks(
        "And now?",
        functions={"get_widget_data": content("New news.")},
        widgets={"primary": [NEWS], "secondary": [], "extra": []},
    )
    [call] = named(first, "copilotFunctionCall")
    assert set(call) == {"function", "input_arguments", "extra_state"}
    assert call["input_arguments"] == {"data_sources": [NEWS_SOURCE]}
    assert second == [("copilotMessageChunk", {"delta": "It fell."})]
    assert "Old news." in model.told()
    assert "New news." in model.told()
    assert set(Run.objects.values_list("generation", flat=True)) == {3}


@HISTORIES
def test_workspace_of_today_is_sent_what_only_it_draws(history, service_url, model):
    pie = calls("chart", name="P", description="", type="pie", rows=ROWS, x="day", y=["price"])
    stranger = Stranger("charts", pie, says("There."), service=service_url, model=model)
    stranger.chat.messages = list(history)
    [events] = stranger.asks("Draw it.")
    [artifact] = named(events, "copilotMessageArtifact")
    assert (artifact["type"], artifact["chart_params"]["chartType"]) == ("chart", "pie")


@pytest.mark.parametrize(("generation", "history"), [(ONE, "1"), (ONE, "1, as text"), (TWO, "2")])
def test_an_old_body_still_gets_the_old_dialect(generation, history, service_url, model):
    """Also where it is sent to the address that Workspace of today is given."""
    import_template("widget-reader", model)
    widget = {**NEWS, "uuid": None} if generation is TWO else NEWS
    offered = {"primary": [widget]} if generation is TWO else [widget]
    again = {"role": "human", "content": "And now?"}
    body = {"messages": [*OLD[history], again], "widgets": offered}
    with Line(f"{service_url}/v1/copilots/widget-reader/query", body=body) as line:
        [(name, call)] = events_of(line.read_all())
    assert name == "copilotFunctionCall"
    named_so: dict[str, Any] = {"widget_uuid": UUID}
    if generation is TWO:
        named_so = {"data_sources": [{"origin": "openbb", "widget_id": "company_news"}]}
    assert call["copilot_function_call_arguments"] == named_so
    assert set(Run.objects.values_list("generation", flat=True)) == {generation.value}


ONLY_THREE: dict[str, Any] = {
    "timezone": "UTC",
    "workspace_state": {},
    "workspace_options": [],
    "tools": None,
    "model": "",
    "skills_catalog": [],
}


@pytest.mark.parametrize("older", [ONE, TWO], ids=["1", "2"])
@pytest.mark.parametrize("field", ONLY_THREE)
def test_a_field_of_today_outweighs_old_messages_and_widgets(field, older, service_url, model):
    import_template("widget-reader", model)
    again = {"role": "human", "content": "And now?"}
    body = {
        "messages": [HUMAN, *brought(older, "Old news."), ANSWER, again],
        **offered(older, NEWS),
        field: ONLY_THREE[field],
    }
    [(_, call)] = asks(service_url, "widget-reader", body)
    assert set(call) == {"function", "input_arguments", "extra_state"}
    assert "data_sources" in call["input_arguments"]
    assert set(Run.objects.values_list("generation", flat=True)) == {Generation.THREE.value}


def test_an_old_body_gets_the_old_dialect_whatever_its_messages_are_like(service_url, model):
    """Such as those of a chat that Workspace of today began."""
    import_template("widget-reader", model)
    again = {"role": "human", "content": "And now?"}
    begun = {"role": "ai", "content": "It rose.", "agent_id": "reader"}
    messages = [HUMAN, *brought(Generation.THREE, "Old news."), begun, again]
    [(_, call)] = asks(service_url, "widget-reader", {"messages": messages, **offered(ONE, NEWS)})
    assert call["copilot_function_call_arguments"] == {"widget_uuid": UUID}
    assert Run.objects.get().generation == 1
