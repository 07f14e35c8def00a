"""The six rules, each broken once; manifests made of signatures and docstrings."""

from collections.abc import AsyncGenerator, Iterable
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
from protocol.components.contract import ContractFinding, ContractRule, outputs_are_json

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
            "parameters": {
                "type": "object",
                "properties": {"query": QUERY},
                "required": ["query"],
            },
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


def found(findings: Iterable[ContractFinding]) -> list[tuple[str, str]]:
    return sorted((finding.rule.value, finding.detail) for finding in findings)


def valid(*details: str) -> list[tuple[str, str]]:
    return [("ManifestValidRule", detail) for detail in details]


def matches(*details: str) -> list[tuple[str, str]]:
    return [("ManifestMatchToolEvalRule", detail) for detail in details]


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


NOT_A_SCHEMA = "parameters is no JSON Schema: "
NO_MANIFEST = "there must be exactly one manifest for tool_eval, not 0."
NOT_IN_MANIFEST = matches("tool_eval takes 'query', which is not in the manifest.")
NO_INIT_KWARGS = [("InitKwargsRule", "__init__ must end with **kwargs.")]
WORDS = {"query": {**QUERY, "type": "words"}}
UNKNOWN_TYPE = (
    f"{NOT_A_SCHEMA}$.properties.query.type: 'words' is not valid under any of the given schemas"
)
COMPONENTS: dict[str, tuple[type[Any], list[tuple[str, str]]]] = {
    "good": (Good, []),
    "empty version": (
        component(version=""),
        valid("the version must be a short word such as 'v1'."),
    ),
    "no manifest": (component(manifests=()), [*NOT_IN_MANIFEST, *valid(NO_MANIFEST)]),
    "manifest without name and description": (
        with_manifest(name="", description=""),
        valid("the manifest lacks name, description."),
    ),
    "parameters that are no schema": (with_parameters(properties=WORDS), valid(UNKNOWN_TYPE)),
    "other parameters": (
        component(tool_eval=renamed),
        matches(
            "the manifest has 'query', which tool_eval does not take.",
            "tool_eval takes 'q', which is not in the manifest.",
        ),
    ),
    "required with a default": (
        component(tool_eval=optional),
        matches("'query' has a default in tool_eval, so it must not be required."),
    ),
    "optional without a default": (
        with_parameters(required=[]),
        matches("'query' has no default in tool_eval, so it must be required."),
    ),
    "tool_eval without kwargs": (
        component(tool_eval=without_kwargs),
        [("ToolEvalKwargsRule", "tool_eval must end with **kwargs.")],
    ),
    "init as in the example": (component(__init__=init_as_in_the_example), []),
    "init without kwargs": (component(__init__=init_without_kwargs), NO_INIT_KWARGS),
}


@pytest.mark.parametrize(("checked", "expected"), COMPONENTS.values(), ids=COMPONENTS)
def test_component_is_checked_before_it_runs(
    checked: type[Any], expected: list[tuple[str, str]]
) -> None:
    assert found(static_findings(checked)) == expected


@pytest.mark.parametrize("name", ["", None, 5, "a b", "ü", "x" * 65, "a\n"])
def test_name_is_one_that_vendors_take(name: Any):
    changed = component(name=name, manifests=({**Good.manifests[0], "name": name or "x"},))
    assert valid(f"the name {name!r} must be 1 to 64 of a-z, A-Z, 0-9, _ and -.")[0] in found(
        static_findings(changed)
    )


@pytest.mark.parametrize(
    ("schema", "lacking"),
    [
        ({"type": "string"}, "description"),
        ({"description": "x"}, "type"),
        (True, "type and description"),
        ({"description": "x", "anyOf": [{"type": "string"}]}, ""),
        ({"description": "x", "enum": ["a"]}, ""),
    ],
)
def test_every_parameter_has_a_type_and_a_description(schema: Any, lacking: str):
    expected = valid(f"the parameter 'query' lacks {lacking}.") if lacking else []
    assert found(static_findings(with_parameters(properties={"query": schema}))) == expected


@pytest.mark.parametrize("name", ["_sys_traceid", "model_configs", "uploaded_files"])
def test_names_of_the_system_are_refused(name: str):
    findings = static_findings(with_parameters(properties={"query": QUERY, name: QUERY}))
    assert (
        "ToolEvalInputNameRule",
        f"the name {name!r} is reserved for what the system passes. Take another.",
    ) in found(findings)


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
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Says the weather,
        in words.

        More that is not for models.

        Args:
            places (list): Where,
                such as: Rome.
            unit: Of what is said.

            days: How many.
            **kwargs: Of the system.

        Source: a paragraph beside the sections.

        Returns:
            kind: No argument.
        """

    assert manifest_from(tool_eval, name="weather") == {
        "name": "weather",
        "description": "Says the weather, in words.",
        "parameters": {
            "type": "object",
            "properties": {
                "places": {
                    "description": "Where, such as: Rome.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"title": {"type": "string"}},
                        "required": ["title"],
                    },
                },
                "unit": {
                    "description": "Of what is said.",
                    "type": "string",
                    "enum": ["C"],
                },
                "days": {"description": "How many.", "type": "integer", "minimum": 1},
                "kind": {"anyOf": [{"type": "string", "enum": ["rain", "sun"]}, {"type": "null"}]},
            },
            "required": ["places"],
        },
    }
