"""Requests of all three generations over HTTP, both legs of a function call, as clients send them."""

import json
from typing import Any

from django.test import AsyncClient
from openbb_ai.models import FunctionCallSSEData, MessageChunkSSEData
import pytest

from copilot_admin.models import Node, Outcome, Run, Turn
from protocol.models import Generation
from tests.agent.scripted import ScriptedProvider, text
from tests.factories import make_published
from tests.protocol.published import REQUESTS, PublishedRequest
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
ANSWER = "It is $150.75."


@pytest.fixture
def provider(monkeypatch) -> ScriptedProvider:
    """A model that answers once; a leg that asks for data does not reach it."""
    scripted = ScriptedProvider([text(ANSWER)])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: scripted)
    make_published(slug="news", widget_data="fetch", citations="off", name="News")
    return scripted


def path_for(generation: Generation) -> str:
    """The address that the discovery document of this generation gives."""
    return QUERY if generation is Generation.THREE else f"{QUERY}?generation=2"


def selected(body: dict[str, Any]) -> list[dict[str, Any]]:
    widgets = body.get("widgets") or []
    return widgets if isinstance(widgets, list) else widgets.get("primary", [])


def wants_data(example: PublishedRequest) -> bool:
    """Whether a selected widget's data is neither asked for yet nor sent along as context."""
    context = {item["uuid"] for item in example.body.get("context") or []}
    missing = [widget for widget in selected(example.body) if widget.get("uuid") not in context]
    return bool(missing) and example.body["messages"][-1]["role"] == "human"


def next_leg(
    example: PublishedRequest, body: dict[str, Any], call: dict[str, Any]
) -> dict[str, Any]:
    """What a client of this generation sends after it has carried out a call."""
    echo = {"role": "ai", "content": json.dumps(call)}
    result: dict[str, Any] = {"role": "tool", "function": call["function"]}
    match example.generation:
        case Generation.ONE:
            result["data"] = {"content": "AAPL costs 150.75"}
        case Generation.TWO:
            result["input_arguments"] = call["input_arguments"]
            result["copilot_function_call_arguments"] = call["copilot_function_call_arguments"]
            result["data"] = [
                {"content": "AAPL costs 150.75"} for _ in call["input_arguments"]["data_sources"]
            ]
        case Generation.THREE:
            known = ("function", "input_arguments")  # Workspace rebuilds the echo from these two
            echo["content"] = json.dumps({key: call[key] for key in known})
            result["input_arguments"] = call["input_arguments"]
            result["extra_state"] = call["extra_state"]
            result["data"] = [
                {
                    "items": [
                        {"content": "AAPL costs 150.75", "data_format": {"data_type": "object"}}
                    ]
                }
                for _ in call["input_arguments"]["data_sources"]
            ]
    return {**body, "messages": [*body["messages"], echo, result]}


def check_call(example: PublishedRequest, call: dict[str, Any], *, leg: int) -> None:
    assert call["function"] == "get_widget_data"
    assert call["extra_state"]
    arguments = call["input_arguments"]
    match example.generation:
        case Generation.ONE:
            assert arguments == {"widget_uuid": selected(example.body)[leg]["uuid"]}
            assert call["copilot_function_call_arguments"]
        case Generation.TWO:
            ids = [widget["widget_id"] for widget in selected(example.body)]
            assert [source["id"] for source in arguments["data_sources"]] == ids
            assert call["copilot_function_call_arguments"]["data_sources"]
        case Generation.THREE:
            assert set(call) == {"function", "input_arguments", "extra_state"}
            assert {tuple(source) for source in arguments["data_sources"]} == {
                ("widget_uuid", "origin", "id", "input_args")
            }
            FunctionCallSSEData.model_validate(call)


@pytest.mark.parametrize(
    "example",
    [example for example in REQUESTS if not wants_data(example)],
    ids=lambda example: f"{example.generation}-{example.name}",
)
def test_an_example_that_brings_its_data_is_answered(example, provider):
    events = read(AsyncClient(), path_for(example.generation), example.body)
    assert events == [("copilotMessageChunk", {"delta": ANSWER})]
    MessageChunkSSEData.model_validate(events[0][1])
    run = Run.objects.get()
    assert (run.outcome, run.generation) == (Outcome.COMPLETED, example.generation)


@pytest.mark.parametrize(
    "example",
    [example for example in REQUESTS if wants_data(example)],
    ids=lambda example: f"{example.generation}-{example.name}",
)
def test_an_example_with_a_widget_is_asked_for_data_and_then_answered(example, provider):
    path = path_for(example.generation)
    body, legs = (
        example.body,
        len(selected(example.body)) if example.generation is Generation.ONE else 1,
    )
    for leg in range(legs):  # generation 1 asks for one widget at a time
        ((name, call),) = read(AsyncClient(), path, body, x_trace_id="chat-1")
        assert name == "copilotFunctionCall"
        check_call(example, call, leg=leg)
        body = next_leg(example, body, call)
    events = read(AsyncClient(), path, body, x_trace_id="chat-1")
    assert "".join(data["delta"] for _, data in events) == ANSWER
    assert "150.75" in str(provider.calls[0].messages)
    runs = Run.objects.order_by("started_at")
    assert [run.generation for run in runs] == [example.generation] * (legs + 1)
    turn = Turn.objects.get()
    assert (turn.state, turn.runs.count()) == ("done", legs + 1)
    kinds = list(Node.objects.order_by("depth").values_list("kind", flat=True))
    assert kinds == [*kinds[: -2 * legs - 1], *["call", "result"] * legs, "text"]
