"""Reads the document of a copilot version: the versioned part of a copilot file's entry.

Documents were checked when they were published. What an older release published and this one no
longer knows is a clear error, never a wrong answer. Which key a value comes from, and what it is
when it is absent, say the fields of the dataclasses in `spec`; here stands how each type is read.
"""

from collections.abc import Mapping

from copilot_admin.agent.values.records import Readers, rows, values_in
from copilot_admin.agent.values.spec import (
    CALL_LIMITS,
    CallLimit,
    ComponentUse,
    CopilotSpec,
    DataMessagePolicy,
    Fallback,
    FixedStep,
    ProviderSpec,
    StepPlace,
)
from copilot_admin.errors import ConfigurationError
from protocol.data import MISSING, DataMessage
from protocol.features import CustomFeature
from protocol.json import Json, JsonObject, list_of, object_of, objects_of, text_of, whole_number_of


def spec_from_document(
    slug: str, document: Mapping[str, Json], provider: ProviderSpec
) -> CopilotSpec:
    """The picture of a copilot that the engine answers from.

    Args:
        slug: Of the copilot; it never changes with a version.
        document: The versioned part of its entry in a copilot file.
        provider: Where its model is.

    Raises:
        ConfigurationError: The document holds what this release does not know.
    """
    name = text_of(document.get("name")) or slug
    try:
        return CopilotSpec(
            **values_in(
                document, CopilotSpec, readers=_READERS, slug=slug, name=name, provider=provider
            )
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigurationError(
            f"Copilot '{slug}' cannot be read by this release: another one made it, with something "
            "that this one does not know. Publish it again."
        ) from error


def custom_feature(row: Mapping[str, Json]) -> CustomFeature:
    """Reads one custom feature.

    Raises:
        ValueError: Its type is unknown.
    """
    states = object_of(row.get("states"))
    given = {
        "label": text_of(row.get("label")) or text_of(row.get("key")),
        "state_on": text_of(states.get("on")) or "on",
        "state_off": text_of(states.get("off")) or "off",
        "options": rows(
            row.get("options"), lambda one: (text_of(one.get("label")), text_of(one.get("value")))
        ),
    }
    return CustomFeature(**values_in(row, CustomFeature, readers=_READERS, **given))


def component_use(row: Mapping[str, Json]) -> ComponentUse:
    """Reads one component that is switched on."""
    return ComponentUse(**values_in(row, ComponentUse, readers=_READERS))


def data_note(row: Mapping[str, Json]) -> DataMessage:
    """Reads one data note."""
    return DataMessage(
        kind=text_of(row.get("kind")) or "data",
        description=text_of(row.get("description")),
        data=row.get("data", MISSING),
        schema=row.get("schema", MISSING),
        instance=text_of(row.get("instance")) or None,
    )


def _fallback(row: Mapping[str, Json]) -> Fallback:
    return Fallback(**values_in(row, Fallback, readers=_READERS))


def _call_limit(row: Mapping[str, Json]) -> CallLimit:
    return CallLimit(**values_in(row, CallLimit, readers=_READERS))


def _call_limits(value: Json) -> tuple[CallLimit, ...]:
    return rows(value, _call_limit) if isinstance(value, list | tuple) else CALL_LIMITS


def _step(row: Mapping[str, Json]) -> FixedStep:
    place = {"at": StepPlace.START.value}
    return FixedStep(**values_in({**place, **row}, FixedStep, readers=_READERS))


def _policy(value: Json) -> DataMessagePolicy:
    return DataMessagePolicy(**values_in(object_of(value), DataMessagePolicy, readers=_READERS))


def _notes_that_are_on(value: Json) -> tuple[DataMessage, ...]:
    on = [row for row in objects_of(value) if row.get("enabled") is not False]
    return rows(on, data_note)


def _keys_that_are_on(value: Json) -> frozenset[str]:
    return frozenset(key for key, is_on in object_of(value).items() if is_on is True)


_READERS: Readers = {
    int | None: whole_number_of,
    Mapping[str, Json]: object_of,
    JsonObject: object_of,
    frozenset[str]: _keys_that_are_on,
    tuple[str, ...]: lambda value: tuple(map(str, list_of(value))),
    tuple[tuple[str, str], ...]: lambda value: rows(
        value, lambda row: (text_of(row.get("id")), text_of(row.get("name")))
    ),
    tuple[Fallback, ...]: lambda value: rows(value, _fallback),
    tuple[CustomFeature, ...]: lambda value: rows(value, custom_feature),
    tuple[ComponentUse, ...]: lambda value: rows(value, component_use),
    tuple[CallLimit, ...]: _call_limits,
    tuple[FixedStep, ...]: lambda value: rows(value, _step),
    tuple[DataMessage, ...]: _notes_that_are_on,
    DataMessagePolicy: _policy,
}
