"""The six rules, each broken once; manifests made of signatures and docstrings."""

from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
import pytest

from protocol.components import (
    ContentType,
    create_output,
    create_outputs,
    manifest_from,
    static_findings,
)
from protocol.components.contract import ContractRule, outputs_are_json

QUERY = {"type": "string", "description": "What to look for."}


class Good:
    """What a component is to these rules; nothing of it is the product's own class."""

    name = "good"
    version = "v1"
    content_types: tuple[ContentType, ...] = (ContentType.TEXT,)
    manifests: Any = (
        {
            "name": "good",
            "description": "Looks.",
            "parameters": {"type": "object", "properties": {"query": QUERY}, "required": ["query"]},
        },
    )

    def __init__(self, **kwargs: Any) -> None:
        pass

    async def tool_eval(self, query: str, **kwargs: Any) -> AsyncGenerator[Any, None]:
        yield create_output("text", query)


def component(**changes: Any) -> type[Good]:
    """A good component with changes in its class."""
    return type("Changed", (Good,), changes)


def with_manifest(**changes: Any) -> type[Good]:
    """A good component with changes in its manifest."""
    return component(manifests=({**Good.manifests[0], **changes},))


def with_parameters(**changes: Any) -> type[Good]:
    """A good component with changes in the schema of its parameters."""
    return with_manifest(parameters={**Good.manifests[0]["parameters"], **changes})


def found(component: type[Any]) -> list[tuple[str, str]]:
    return sorted((one.rule.value, one.detail) for one in static_findings(component))


async def renamed(self: Good, q: str, **kwargs: Any) -> AsyncGenerator[Any, None]:
    yield create_output("text", q)


async def optional(self: Good, query: str = "", **kwargs: Any) -> AsyncGenerator[Any, None]:
    yield create_output("text", query)


async def without_kwargs(self: Good, query: str) -> AsyncGenerator[Any, None]:
    yield create_output("text", query)


def init_as_in_the_example(
    self: Good, model=None, secret_key=None, gateway="", lazy_certification=True
):
    pass


def init_without_kwargs(self: Good, model=None):
    pass


@pytest.mark.parametrize(
    ("checked", "rule", "details"),
    [
        (Good, "", []),
        (component(__init__=init_as_in_the_example), "", []),
        (with_parameters(required=[], anyOf=[{"required": ["query"]}]), "", []),
        (component(version=""), "ManifestValid", ["the version must be a short word such as 'v1'."]),
        (component(name="a b", manifests=Good.manifests * 2), "ManifestValid",
         ["the name 'a b' must be 1 to 64 of a-z, A-Z, 0-9, _ and -.",
          "there must be exactly one manifest for tool_eval, not 2."]),
        (with_manifest(name="", description=""), "ManifestValid",
         ["the manifest lacks name, description."]),
        (with_manifest(name="other"), "ManifestValid",
         ["the manifest's name 'other' is not that of the component."]),
        (with_parameters(properties={"query": {**QUERY, "type": "words"}}), "ManifestValid",
         ["parameters is no JSON Schema: $.properties.query.type: 'words' is not valid under any "
          "of the given schemas"]),
        (with_parameters(properties={"query": {"type": "string"}}), "ManifestValid",
         ["the parameter 'query' lacks description."]),
        (with_parameters(properties={"query": True}), "ManifestValid",
         ["the parameter 'query' lacks type and description."]),
        (component(tool_eval=renamed), "ManifestMatchToolEval",
         ["the manifest has 'query', which tool_eval does not take.",
          "tool_eval takes 'q', which is not in the manifest."]),
        (component(tool_eval=optional), "ManifestMatchToolEval",
         ["'query' has a default in tool_eval, so it must not be required."]),
        (with_parameters(required=["more"]), "ManifestMatchToolEval",
         ["'more' is required, but is no parameter.",
          "'query' has no default in tool_eval, so it must be required."]),
        (component(tool_eval=without_kwargs), "ToolEvalKwargs",
         ["tool_eval must end with **kwargs."]),
        (component(__init__=init_without_kwargs), "InitKwargs",
         ["__init__ must end with **kwargs."]),
    ],
)  # fmt: skip
def test_component_is_checked_before_it_runs(checked: type[Any], rule: str, details: list[str]):
    assert found(checked) == [(f"{rule}Rule", detail) for detail in details]


@pytest.mark.parametrize("name", ["", None, 5, "ü", "x" * 65, "a\n"])
def test_name_is_one_that_vendors_take(name: Any):
    changed = component(name=name, manifests=({**Good.manifests[0], "name": name or "x"},))
    assert any(detail.startswith(f"the name {name!r} must be") for _, detail in found(changed))


def test_names_of_the_system_are_refused():
    findings = found(with_parameters(properties={"query": QUERY, "_sys_traceid": QUERY}))
    refusal = "the name '_sys_traceid' is reserved for what the system passes. Take another."
    assert ("ToolEvalInputNameRule", refusal) in findings


def test_a_component_gives_something_of_what_it_declares():
    def details(*outputs: Any) -> list[str]:
        return [finding.detail for finding in outputs_are_json(Good, outputs)]

    assert details(create_output("text", "x")) == []
    assert details() == ["a run must give at least one content item."]
    assert details(create_outputs([])) == ["a run must give at least one content item."]
    assert details(create_outputs([]), create_output("text", "x")) == []
    link = create_output("urls", "u")
    assert details(link, link) == ["gives 'urls', which content_types does not declare."]
    assert list(outputs_are_json(component(content_types=()), [link])) == []
    assert details("words") == ["tool_eval yields str, not what create_output makes."]
    secret = create_output("text", "x", raw_data={"a": object()})
    (detail,) = details(secret)
    assert detail.startswith("an output is no JSON of the contract: ")
    assert {finding.rule for finding in outputs_are_json(Good, [])} == {ContractRule.OUTPUT_JSON}


class Unit(StrEnum):
    """Units of temperature."""

    CELSIUS = "C"


class Place(BaseModel):
    title: str


def test_a_manifest_is_made_of_signature_and_docstring():
    def tool_eval(
        self: Any,
        places: list[Place],
        unit: Unit = Unit.CELSIUS,
        days: Annotated[int, Field(ge=1)] = 3,
        kind: Literal["rain", "sun"] | None = None,
        **kwargs: Any,
    ) -> None:
        """Says the weather,
        in words.

        More that is not for models.

        Args:
            places (list): Where,
                such as: Rome.
            unit: Of what is said.
            **kwargs: Of the system.

        Returns:
            kind: No argument.
        """

    titles = {"properties": {"title": {"type": "string"}}, "required": ["title"]}
    kinds = [{"type": "string", "enum": ["rain", "sun"]}, {"type": "null"}]
    assert manifest_from(tool_eval, name="weather") == {
        "name": "weather",
        "description": "Says the weather, in words.",
        "parameters": {
            "type": "object",
            "properties": {
                "places": {
                    "description": "Where, such as: Rome.",
                    "type": "array",
                    "items": {"type": "object", **titles},
                },
                "unit": {"description": "Of what is said.", "type": "string", "enum": ["C"]},
                "days": {"type": "integer", "minimum": 1},
                "kind": {"anyOf": kinds},
            },
            "required": ["places"],
        },
    }
