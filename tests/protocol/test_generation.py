"""A request's generation is told by its shape; the hint helps only where the shape is silent."""

import json
from typing import Any

import pytest

from protocol.models import Generation
from protocol.parsing import parse_query

HUMAN = {"role": "human", "content": "q"}
ONE, TWO, THREE = Generation
CALL = {"function": "get_widget_data", "input_arguments": {}}
NO_UUID = {"widgets": {"primary": [{"origin": "o", "widget_id": "w"}]}}
WITH_UUID = {"widgets": {"primary": [], "extra": [{"widget_id": "w", "uuid": "u"}]}}
FILE = {"origin": "OpenBB Hub", "widget_id": "file-1", "name": "a.pdf"}
ONLY_FILES = {"widgets": {"primary": [FILE], "secondary": []}}
OLD_MESSAGES = {
    "call of generation 1": {
        "role": "ai",
        "content": json.dumps({**CALL, "input_arguments": {"widget_uuid": "u"}}),
    },
    "result of generation 1": {"role": "tool", "content": "data"},
    "object of generation 1": {"role": "tool", "data": {"content": "data"}},
    "call of generation 2": {
        "role": "ai",
        "content": json.dumps({**CALL, "copilot_function_call_arguments": {}}),
    },
    "result of generation 2": {"role": "tool", "data": [{"content": "x"}]},
}
ONLY_THREE: dict[str, Any] = {
    "timezone": "UTC",
    "workspace_state": None,
    "workspace_options": [],
    "tools": [],
    "model": "m",
    "skills_catalog": [],
}


def generation_of(
    *messages: dict[str, Any], hint: Generation | None = None, **fields: Any
) -> Generation:
    return parse_query({"messages": [HUMAN, *messages], **fields}, hint=hint).generation


def call(**extra: Any) -> dict[str, Any]:
    return {"role": "ai", "content": json.dumps({**CALL, **extra})}


def tool(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "function": "get_widget_data", **fields}


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([], {"widgets": []}),
        ([call(input_arguments={"widget_uuid": "u"})], {}),
        ([tool(input_arguments={"widget_uuid": "u"}, data=[])], {}),
        ([tool(content="data")], {}),
        ([tool(data={"content": "data"})], {}),
        ([tool(data={})], WITH_UUID),
        ([tool(data=[{"items": []}])], {"widgets": [{"uuid": "u"}]}),
    ],
)
def test_generation_one_shows(messages: list, fields: dict):
    assert {generation_of(*messages, hint=hint, **fields) for hint in (None, *Generation)} == {ONE}


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([call(copilot_function_call_arguments={})], {}),
        ([tool(copilot_function_call_arguments={}, data=[])], {}),
        ([tool(data=[{"content": "x"}])], {}),
        ([tool(data=[], extra_state={})], NO_UUID),
        ([], NO_UUID),
        *([[], {"widgets": {group: [{"widget_id": "w"}]}}] for group in ("secondary", "extra")),
        ([], {"widgets": {"primary": [FILE, {"widget_id": "w"}]}}),
        ([], {"widgets": {"primary": [{"origin": "OpenBB Hub", "widget_id": "w"}]}}),
    ],
)
def test_generation_two_shows(messages: list, fields: dict):
    assert {generation_of(*messages, hint=hint, **fields) for hint in (None, *Generation)} == {TWO}


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        *([[], {**NO_UUID, key: value}] for key, value in ONLY_THREE.items()),
        ([], {"widgets": [{"uuid": "u"}], "timezone": "UTC"}),
        ([{"role": "ai", "content": "a", "agent_id": "x"}], NO_UUID),
        ([tool(data=[{"items": []}])], NO_UUID),
        ([tool(input_arguments={"widget_uuid": "u"}, data=[{"items": []}])], {}),
        ([tool(copilot_function_call_arguments={}, data=[{"items": []}])], {}),
    ],
)
def test_generation_three_shows(messages: list, fields: dict):
    assert {generation_of(*messages, hint=hint, **fields) for hint in (None, *Generation)} == {
        THREE
    }


@pytest.mark.parametrize("old", OLD_MESSAGES.values(), ids=OLD_MESSAGES)
@pytest.mark.parametrize("key", ONLY_THREE)
def test_the_dialect_is_that_of_the_caller_now(key: str, old: dict):
    asked = {"role": "human", "content": "And now?"}
    for widgets in ({}, NO_UUID, WITH_UUID, ONLY_FILES):
        told = generation_of(old, asked, **{**widgets, key: ONLY_THREE[key]})
        assert told is THREE


@pytest.mark.parametrize(
    "fields",
    [
        {},
        WITH_UUID,
        ONLY_FILES,
        {"widgets": None},
        {"widgets": {}},
        {"widgets": {"primary": "no list", "secondary": [5]}},
    ],
)
@pytest.mark.parametrize(
    "messages",
    [
        [],
        [call()],
        [tool(data=[])],
        [{"role": "ai"}],
        [tool(data=[{"error_type": "not_found", "content": "x"}], extra_state={})],
    ],
)
def test_silent_shape_follows_the_hint(messages: list, fields: dict):
    assert generation_of(*messages, **fields) is THREE
    for hint in Generation:
        assert generation_of(*messages, hint=hint, **fields) is hint
