"""A request's generation is told by its shape; the hint helps only where the shape is silent."""

import json
from typing import Any

import pytest

from protocol.generations import Generation
from protocol.requests import read

HUMAN = {"role": "human", "content": "q"}
ONE, TWO, THREE = Generation
CALL = {"function": "get_widget_data", "input_arguments": {}}
NO_UUID = {"widgets": {"primary": [{"origin": "o", "widget_id": "w"}]}}
WITH_UUID = {"widgets": {"primary": [], "extra": [{"widget_id": "w", "uuid": "u"}]}}


def generation_of(
    *messages: dict[str, Any], hint: Generation | None = None, **fields: Any
) -> Generation:
    return read({"messages": [HUMAN, *messages], **fields}, hint=hint).generation


def call(**extra: Any) -> dict[str, Any]:
    return {"role": "ai", "content": json.dumps({**CALL, **extra})}


def tool(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "function": "get_widget_data", **fields}


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([], {"widgets": []}),
        ([], {"widgets": [{"uuid": "u"}], "timezone": "UTC"}),
        ([call(input_arguments={"widget_uuid": "u"})], {}),
        ([tool(input_arguments={"widget_uuid": "u"}, data=[{"items": []}])], {}),
        ([tool(content="data")], {}),
        ([tool(content={"a": 1})], {}),
        ([tool(data={"content": "data"})], {}),
        ([tool(data={})], WITH_UUID),
    ],
)
def test_generation_one_shows(messages: list, fields: dict):
    assert {generation_of(*messages, hint=hint, **fields) for hint in (None, *Generation)} == {ONE}


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([call(copilot_function_call_arguments={})], {}),
        ([tool(copilot_function_call_arguments={}, data=[{"items": []}])], {"timezone": "UTC"}),
        ([tool(data=[{"content": "x"}])], {}),
        ([tool(data=[{"content": "x"}], extra_state={"a": 1})], {"tools": []}),
        ([], NO_UUID),
        ([], {"widgets": {}}),
        ([], {"widgets": {"primary": "no list", "secondary": [5]}}),
    ],
)
def test_generation_two_shows(messages: list, fields: dict):
    assert {generation_of(*messages, hint=hint, **fields) for hint in (None, *Generation)} == {TWO}


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([], {**NO_UUID, "timezone": "UTC"}),
        ([], {**NO_UUID, "workspace_state": None}),
        ([], {**NO_UUID, "workspace_options": []}),
        ([], {**NO_UUID, "tools": []}),
        ([], {**NO_UUID, "model": "m"}),
        ([], {**NO_UUID, "skills_catalog": []}),
        ([{"role": "ai", "content": "a", "agent_id": "x"}], NO_UUID),
        ([tool(data=[], extra_state={})], NO_UUID),
        ([tool(data=[{"items": []}])], NO_UUID),
        ([tool(data=[{"error_type": "not_found", "content": "x"}], extra_state={})], NO_UUID),
    ],
)
def test_generation_three_shows(messages: list, fields: dict):
    assert {generation_of(*messages, hint=hint, **fields) for hint in (None, *Generation)} == {
        THREE
    }


@pytest.mark.parametrize("fields", [{}, WITH_UUID, {"widgets": None}, {"urls": []}])
@pytest.mark.parametrize("messages", [[], [call()], [tool(data=[])], [{"role": "ai"}]])
def test_silent_shape_follows_the_hint(messages: list, fields: dict):
    assert generation_of(*messages, **fields) is THREE
    for hint in Generation:
        assert generation_of(*messages, hint=hint, **fields) is hint
