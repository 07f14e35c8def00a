"""Every rule of the component contract, R1 to R17, each with a test of its name.

The numbers are those of the product's specification of the contract. What a rule says of the HTTP
interface is held in tests/api/test_components.py and its neighbours, of a whole copilot in
tests/runs/test_notes_and_components.py; both are named where they go further.
"""

import asyncio
import inspect
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
import pytest

from copilot_admin.agent import components
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import Registry, registry
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.api.components import ONE
from protocol.components import (
    ComponentArguments,
    ComponentOutput,
    ContractRule,
    Message,
    create_output,
    create_outputs,
    from_caller,
    manifest_from,
    merge,
    static_findings,
)
from protocol.components.manifests import parameters_of
from protocol.sse import encode_data
from tests.agent.components.sample_components import ALL as SAMPLES
from tests.agent.components.sample_components import Echo, EchoTwo

ALL = [*registry().all(), *SAMPLES]
every = pytest.mark.parametrize("component", ALL, ids=lambda one: f"{one.name}-{one.version}")


def broken(**changes: Any) -> type[Component]:
    """The echo, with something in it that a rule forbids."""
    return type("Broken", (Echo,), {"__doc__": "Broken.", **changes})


def rules_of(component: type[Component]) -> set[ContractRule]:
    return {finding.rule for finding in static_findings(component)}


@pytest.mark.parametrize("content", ["text", ["a"], {"a": 1}, 5, {}])
def test_r1_a_message_holds_any_content(content):
    assert Message(content).content == content
    assert Message().content == {}


def test_r2_run_takes_a_message_and_gives_one():
    returned = asyncio.run(Echo().run(Message("hello")))
    assert isinstance(returned, Message)
    assert returned.content == "hello"


@every
def test_r3_run_and_tool_eval_are_traced(component):
    assert component.run._is_traced
    assert component.tool_eval._is_traced


@every
def test_r4_a_component_has_name_version_meta_and_manifests(component):
    assert component.name and component.version
    assert issubclass(component.meta, ComponentArguments)
    assert len(component.manifests) == 1


def test_r5_parameters_are_the_manifests_and_the_rest_comes_as_keywords():
    seen: dict[str, Any] = {}

    class Witness(Component):
        """Keeps what came."""

        name = "keeper"

        async def tool_eval(self, query: str, **kwargs: Any) -> Any:
            """Keeps what came.

            Args:
                query: What to say.
            """
            seen.update({"query": query, **kwargs})
            yield create_output("text", query)

    run = ComponentRun(Witness, {"query": "q"}, system={"_sys_traceid": "t"})

    async def whole() -> None:
        async for _ in run.stream():
            pass

    asyncio.run(whole())
    assert seen == {"query": "q", "_sys_traceid": "t"}


@pytest.mark.parametrize("name", ["_sys_traceid", "uploaded_files", "traceid", "model_configs"])
def test_r6_names_of_the_system_are_reserved_and_some_only_the_server_sets(name):
    manifest = {
        "name": "echo",
        "description": "D",
        "parameters": {
            "type": "object",
            "properties": {name: {"type": "string", "description": "D"}},
            "required": [name],
        },
    }
    assert ContractRule.INPUT_NAMES in rules_of(broken(manifests=(manifest,)))
    assert from_caller({"_sys_traceid": "evil", "uploaded_files": []}) == {"uploaded_files": []}


def test_r7_fields_are_json_with_fixed_names_and_a_scope():
    (content,) = create_output("urls", "https://example.org").to_json()["content"]
    assert content == {
        "name": "",
        "visible_scope": "all",
        "raw_data": {},
        "usage": {},
        "metrics": {},
        "type": "urls",
        "text": {"url": "https://example.org"},
    }


def test_r8_the_form_without_streaming_is_the_stream_put_together():
    groups = [create_output("references", {"title": title}) for title in "AB"]
    assert [one.text.model_dump()["title"] for one in merge(groups).content] == ["A", "B"]
    whole = asyncio.run(EchoTwo().non_stream_tool_eval(query="hello"))
    assert [one.text.model_dump() for one in merge([whole]).content] == [{"info": "hello"}]


def test_r9_streams_are_server_sent_events():
    assert encode_data({"status": "running"}) == b'data: {"status":"running"}\n\n'


def test_r10_content_is_a_list_with_an_element_for_each_link():
    both = create_outputs([create_output("urls", f"https://example.org/{n}") for n in (1, 2)])
    assert [one["text"]["url"] for one in both.to_json()["content"]] == [
        "https://example.org/1",
        "https://example.org/2",
    ]


def test_r11_a_component_needs_a_manifest_and_gets_one_from_its_signature():
    assert ContractRule.MANIFEST_VALID in rules_of(broken(manifests=()))
    made = manifest_from(Echo.tool_eval, name="echo")
    assert made == Echo.manifests[0]


@every
def test_r12_a_manifest_is_json_schema_and_agrees_with_tool_eval(component):
    Draft202012Validator.check_schema(component.parameters())
    names = {parameter.name for parameter in parameters_of(component.tool_eval)}
    assert set(component.parameters()["properties"]) == names


def test_r13_the_version_is_part_of_the_address():
    assert ONE == "/components/{component}/version/{version}"
    both = Registry([Echo, EchoTwo])
    assert (both.find("echo", "v1"), both.find("echo", "2")) == (Echo, EchoTwo)


def test_r14_components_of_the_contract_stand_apart_in_a_folder_of_their_own():
    folder = Path(components.__file__).parent
    files = {Path(inspect.getfile(component)).parent for component in registry().all()}
    assert files == {folder}


@every
def test_r15_tool_and_parameters_are_described(component):
    assert component.description()
    for schema in component.parameters()["properties"].values():
        assert schema["description"]


@every
def test_r16_every_component_brings_inputs_to_be_tested_with(component):
    assert component.samples
    assert all(isinstance(sample, dict) for sample in component.samples)


@every
def test_r17_docstrings_describe_every_parameter_in_google_style(component):
    text = inspect.getdoc(component.tool_eval) or ""
    parameters = parameters_of(component.tool_eval)
    assert text
    assert not parameters or "\nArgs:\n" in text
    for parameter in parameters:
        assert f"\n    {parameter.name}" in text


def test_an_output_of_a_run_is_an_output_of_the_contract():
    run = ComponentRun(Echo, {"query": "hello"})

    async def first() -> ComponentOutput:
        return await anext(run.stream())

    assert asyncio.run(first()) == create_output("text", "hello")
