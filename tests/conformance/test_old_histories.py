"""A chat that an older client began is answered in the dialect of the client that asks now."""

import json
from typing import Any

import pytest

from copilot_admin.models import Run
from tests.conformance.strangers import NEWS, NEWS_SOURCE, content
from tests.workspace.client import named
from tests.workspace.model_server import says

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
def test_workspace_of_today_is_asked_for_data_in_its_own_words(history, chat_with, model):
    stranger = chat_with("widget-reader", says("It fell."))
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
