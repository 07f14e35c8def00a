"""A request's generation is told by its shape; the hint helps only where the shape is silent."""

from typing import Any

import pytest

from protocol.models import Generation
from protocol.parsing import parse_query

HUMAN = {"role": "human", "content": "q"}
ONE, TWO, THREE = Generation
NO_UUID = {"widgets": {"primary": [{"origin": "o", "widget_id": "w"}]}}
WITH_UUID = {"widgets": {"primary": [], "extra": [{"widget_id": "w", "uuid": "u"}]}}
FILE = {"origin": "OpenBB Hub", "widget_id": "file-1", "name": "a.pdf"}
ONLY_FILES = {"widgets": {"primary": [FILE], "secondary": []}}
ONLY_THREE: dict[str, Any] = {
    "timezone": "UTC",
    "workspace_state": None,
    "workspace_options": [],
    "tools": [],
    "model": "m",
    "skills_catalog": [],
}
ARGUMENTS: dict[str, Any] = {"copilot_function_call_arguments": {}}


def generation_of(messages: list[Any], fields: Any, hint: Generation | None = None) -> Generation:
    return parse_query({"messages": [HUMAN, *messages], **fields}, hint=hint).generation


def call(**extra: Any) -> dict[str, Any]:
    content = {"function": "get_widget_data", "input_arguments": {}, **extra}
    return {"role": "ai", "content": content}


def tool(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "function": "get_widget_data", **fields}


UUID = {"input_arguments": {"widget_uuid": "u"}}
OF_ONE = [call(**UUID), tool(**UUID, data=[]), tool(content="x"), tool(data={"content": "x"})]
OF_TWO = [call(**ARGUMENTS), tool(**ARGUMENTS, data=[]), tool(data=[{"content": "x"}])]


@pytest.mark.parametrize(
    ("messages", "fields", "generation"),
    [
        ([], {"widgets": []}, ONE),
        *(([message], {}, ONE) for message in OF_ONE),
        ([tool(data={})], WITH_UUID, ONE),
        ([tool(data=[{"items": []}])], {"widgets": [{"uuid": "u"}]}, ONE),
        *(([message], {}, TWO) for message in OF_TWO),
        ([tool(data=[], extra_state={})], NO_UUID, TWO),
        *(([], {"widgets": {group: [{"widget_id": "w"}]}}, TWO) for group in ("primary", "extra")),
        ([], {"widgets": {"primary": [FILE, {"widget_id": "w"}]}}, TWO),
        ([], {"widgets": [{"uuid": "u"}], "timezone": "UTC"}, THREE),
        ([{"role": "ai", "content": "a", "agent_id": "x"}], NO_UUID, THREE),
        ([tool(data=[{"items": []}])], NO_UUID, THREE),
        ([tool(**UUID, data=[{"items": []}])], {}, THREE),
        ([tool(**ARGUMENTS, data=[{"items": []}])], {}, THREE),
        *((OF_ONE + OF_TWO, {**NO_UUID, key: one}, THREE) for key, one in ONLY_THREE.items()),
    ],
)
def test_the_shape_counts_whatever_the_hint(messages: list, fields: Any, generation: Generation):
    found = {generation_of(messages, fields, hint) for hint in (None, *Generation)}
    assert found == {generation}


@pytest.mark.parametrize(
    "fields", [{}, WITH_UUID, ONLY_FILES, {"widgets": None}, {"widgets": {"primary": "x"}}]
)
@pytest.mark.parametrize(
    "messages", [[], [call()], [tool(data=[])], [tool(data=[{"error_type": "e", "content": "x"}])]]
)
def test_silent_shape_follows_the_hint(messages: list, fields: dict):
    assert generation_of(messages, fields) is THREE
    for hint in Generation:
        assert generation_of(messages, fields, hint) is hint
