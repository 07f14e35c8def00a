"""Every component that is registered keeps the contract: the rules, the samples, the merging."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import MODEL
from copilot_admin.agent.components.registry import (
    demo_model_client,
    registry,
    sample_arguments,
    sample_findings,
)
from copilot_admin.agent.components.runs import check_arguments
from copilot_admin.errors import ProviderRefused
from protocol.components import (
    ComponentOutput,
    Content,
    ContentType,
    collect,
    create_output,
    merge,
    static_findings,
)
from tests.agent.components.sample_components import Echo, EchoTwo

PIECES = {
    ContentType.TEXT: "info",
    ContentType.ORAL_TEXT: "info",
    ContentType.THOUGHT: "info",
    ContentType.CODE: "code",
}
ALL = [
    pytest.param(component, id=f"{component.name}-{component.version}")
    for component in registry().all()
]
SAMPLES = [
    pytest.param(component, sample, id=f"{component.name}-{component.version}-{number}")
    for component in registry().all()
    for number, sample in enumerate(component.samples, 1)
]


def outputs_of(component: type[Component], **inputs: Any) -> list[ComponentOutput]:
    async def collected() -> list[ComponentOutput]:
        return [output async for output in component().stream(**inputs)]

    return asyncio.run(collected())


def texts(contents: tuple[Content, ...]) -> dict[tuple[str, str, str], str]:
    """The streamed text of each group, in pieces put together."""
    found: dict[tuple[str, str, str], str] = defaultdict(str)
    for content in contents:
        if content.type in PIECES:
            key = (content.type.value, content.name, content.visible_scope.value)
            found[key] += content.text.model_dump()[PIECES[content.type]]
    return found


def test_no_component_of_this_folder_breaks_a_rule():
    assert [fault.sentence for fault in registry().faults] == []
    assert {"calculator", "chart_maker", "document_search", "similar_question"} <= {
        *registry().names()
    }


@pytest.mark.parametrize("component", ALL)
def test_it_keeps_all_six_rules(component: type[Component]):
    assert static_findings(component) == ()
    assert asyncio.run(sample_findings(component)) == ()


@pytest.mark.parametrize("component", ALL)
def test_it_is_described_under_its_own_name(component: type[Component]):
    assert component.tool_name() == [component.name]
    assert component.description() and component.summary()
    assert component.content_types, "say what it gives"
    assert component.samples, "say how it is tried"


@pytest.mark.parametrize(("component", "sample"), SAMPLES)
def test_what_is_streamed_is_what_is_merged(component: type[Component], sample: dict[str, Any]):
    check_arguments(component, sample_arguments(sample))
    outputs = outputs_of(component, **{MODEL: demo_model_client(), **sample})
    streamed, merged = collect(outputs), merge(outputs)
    assert texts(merged.content) == texts(streamed.content)
    assert len(texts(merged.content)) == sum(one.type in PIECES for one in merged.content)
    assert merged.role == streamed.role
    assert asyncio.run(
        component().non_stream_tool_eval(**{MODEL: demo_model_client(), **sample})
    ).content


@pytest.mark.parametrize(("component", "sample"), SAMPLES)
def test_without_system_inputs_it_works_or_says_what_it_lacks(
    component: type[Component], sample: dict[str, Any]
):
    try:
        assert outputs_of(component, **sample_arguments(sample))
    except ValueError as error:
        assert str(error).endswith(".")


@pytest.mark.parametrize(("component", "sample"), SAMPLES)
def test_instances_keep_nothing_of_a_call(component: type[Component], sample: dict[str, Any]):
    inputs = {MODEL: demo_model_client(), **sample}
    instance = component()

    async def twice() -> list[list[ComponentOutput]]:
        return [[one async for one in instance.stream(**inputs)] for _ in range(2)]

    first, second = asyncio.run(twice())
    assert [one.type for one in merge(first).content] == [one.type for one in merge(second).content]


def test_async_and_plain_generators_are_both_components():
    for component in (Echo, EchoTwo):
        assert asyncio.run(sample_findings(component)) == ()
        (content,) = merge(outputs_of(component, query="hello")).content
        assert content.text.model_dump() == {"info": "hello"}


class Sampled(Component):
    """Raises or gives what its only argument says."""

    name = "sampled"
    content_types = (ContentType.TEXT,)

    def tool_eval(self, what: str, **kwargs: Any) -> Generator[ComponentOutput, None, None]:
        """Gives what is wanted.

        Args:
            what: Is wanted.
        """
        if what == "raise":
            raise ProviderRefused("No.")
        yield create_output("urls" if what == "url" else "text", kwargs.get("_sys_name", what))


def sampled(*samples: dict[str, Any]) -> list[str]:
    changed = type("Changed", (Sampled,), {"samples": samples})
    return [finding.detail for finding in asyncio.run(sample_findings(changed))]


def test_a_component_without_samples_cannot_be_checked():
    assert sampled() == ["there is no sample to run it with."]


def test_a_sample_that_the_manifest_refuses_or_that_fails_is_a_finding():
    assert sampled({"what": "text"}, {"what": 1}, {"what": "raise"}) == [
        "its sample 2 gives no whole result: Wrong arguments for sampled: "
        "what: 1 is not of type 'string'.",
        "its sample 3 gives no whole result: The component 'sampled' could not ask its model. No.",
    ]


def test_a_sample_that_gives_something_else_than_declared_is_a_finding():
    assert sampled({"what": "url"}) == ["gives 'urls', which content_types does not declare."]


def test_a_sample_brings_system_inputs_of_its_own():
    class Named(Component):
        name = "named"
        samples = ({"what": "x", "_sys_name": "mine"},)
        given: list[str] = []

        async def tool_eval(
            self, what: str, **kwargs: Any
        ) -> AsyncGenerator[ComponentOutput, None]:
            """Says its name.

            Args:
                what: Anything.
            """
            self.given.append(kwargs["_sys_name"])
            yield create_output("text", what)

    assert asyncio.run(sample_findings(Named)) == ()
    assert Named.given == ["mine"]
