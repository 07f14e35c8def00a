"""Every component keeps the contract: rules, samples, streams and descriptions."""

import asyncio
from collections.abc import Generator
from typing import Any

from jsonschema import Draft202012Validator
import pytest

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.calculator import Calculator
from copilot_admin.agent.components.registry import Registry, registry, sample_findings
from copilot_admin.errors import ProviderRefused
from protocol.components import (
    ComponentArguments,
    ComponentOutput,
    ContentType,
    create_output,
    static_findings,
)
from protocol.components.contract import parameters_of
from tests.agent.components.sample_components import ALL as SAMPLE_COMPONENTS
from tests.agent.components.sample_components import Echo

BUILT_IN = registry().all()
every = pytest.mark.parametrize(
    "component", [*BUILT_IN, *SAMPLE_COMPONENTS], ids=lambda one: f"{one.name}-{one.version}"
)


def outputs_of(component: Component, **inputs: Any) -> list[ComponentOutput]:
    async def collect() -> list[ComponentOutput]:
        return [output async for output in component.stream(**inputs)]

    return asyncio.run(collect())


def test_the_built_in_components_are_registered_without_a_fault():
    assert registry().faults == []
    assert registry().names() == (
        "calculator",
        "chart_maker",
        "document_search",
        "returns_toolkit",
        "similar_question",
        "table_analyst",
    )


@every
def test_it_keeps_the_static_rules(component: type[Component]):
    assert static_findings(component) == ()
    assert component.name and component.version and component.summary() and component.samples
    assert issubclass(component.meta, ComponentArguments)
    assert [one["name"] for one in component.manifests] == [component.name]


@every
def test_its_manifest_is_a_schema_in_which_everything_is_described(component: type[Component]):
    schema: Any = component.parameters()
    Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == {one.name for one in parameters_of(component.tool_eval)}
    assert component.description()
    assert all(one["description"] for one in schema["properties"].values())


@pytest.mark.parametrize("component", BUILT_IN, ids=lambda one: one.name)
def test_its_samples_give_what_it_declares(component: type[Component]):
    assert component.content_types
    assert asyncio.run(sample_findings(component)) == ()


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


@pytest.mark.parametrize(
    ("samples", "details"),
    [
        ([], ["there is no sample to run it with."]),
        (
            [{"what": "text"}, {"what": 1}, {"what": "raise"}],
            [
                "its sample 2 gives no whole result: Wrong arguments for sampled: "
                "what: 1 is not of type 'string'.",
                "its sample 3 gives no whole result: "
                "The component 'sampled' could not ask its model. No.",
            ],
        ),
        ([{"what": "url"}], ["gives 'urls', which content_types does not declare."]),
        ([{"what": "x", "_sys_name": "mine"}], []),
    ],
)
def test_a_sample_that_does_not_work_is_a_finding(samples: Any, details: list[str]):
    changed = type("Changed", (Sampled,), {"samples": samples})
    assert [one.detail for one in asyncio.run(sample_findings(changed))] == details


def test_a_component_that_is_not_a_generator_cannot_be_streamed():
    class Forgets(Component):
        name = "forgets"

        def tool_eval(self, **kwargs: Any) -> Any:
            """Forgets to yield."""
            return "word"

    with pytest.raises(TypeError, match="tool_eval must be a generator"):
        outputs_of(Forgets())


def version(version: str, **changes: Any) -> type[Component]:
    return type("Version", (Echo,), {"version": version, **changes})


def test_versions_are_in_the_order_of_their_rows_and_found_with_or_without_their_letter():
    old, new, bare = version("v2"), version("v10"), version("2")
    found = Registry([old, Calculator, new])
    assert (found.names(), found.versions("echo")) == (("calculator", "echo"), ("v2", "v10"))
    assert found.all() == [Calculator, old, new]
    assert [found.find("echo", *more) for more in ((), ("latest",), ("",))] == [new] * 3
    assert [found.find("echo", "v2"), found.find("echo", "2")] == [old] * 2
    assert [found.find("echo", "v3"), found.find("x"), found.versions("x")] == [None, None, ()]
    assert Registry([old, bare]).find("echo", "2") is bare


@pytest.mark.parametrize(
    ("components", "detail"),
    [
        ((version("v1"), version("v1")), "there are two components echo v1."),
        ((version("latest"),), "the version 'latest' is a name for the newest one."),
        (
            (version("v1", manifests=()),),
            "there must be exactly one manifest for tool_eval, not 0.",
        ),
    ],
)
def test_a_component_that_breaks_a_rule_is_left_out(components: Any, detail: str):
    found = Registry(components)
    assert found.all() == [*components[:-1]]
    assert found.faults[0].sentence == (
        "The component tests.agent.components.test_contract.Version breaks "
        f"ManifestValidRule: {detail}"
    )
