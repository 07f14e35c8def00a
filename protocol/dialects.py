"""Say an event in the words of the client's generation.

Source: the response events of the three generations of the copilot protocol. What an older client
does not know becomes something it shows (a table becomes Markdown text) or is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import Enum
from typing import assert_never

from protocol.citations import break_unsafe_urls
from protocol.events import (
    ArtifactType,
    CitationCollection,
    Event,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    StatusUpdate,
    WireEvent,
)
from protocol.functions import WIDGET_DATA_FUNCTIONS, DataSource, data_sources
from protocol.json import Json, JsonObject
from protocol.models import CallMessage, Generation
from protocol.plain_text import html_text, inert, markdown_table, sources_line
from protocol.walk import rebuild

# The client uses these keys for itself; in the details of a step they would only be noise.
_HIDDEN_DETAILS = frozenset(
    {
        "lastupdated",
        "source",
        "id",
        "uuid",
        "storedfileuuid",
        "url",
        "datakey",
        "originalfilename",
        "extension",
        "category",
        "subcategory",
        "transcript_url",
    }
)
_ROUND_CHARTS = frozenset({"pie", "donut"})  # generation 2 draws lines, bars and points only
_OWN_NULLS = frozenset({"input_args", "content"})  # the client's arguments and table cells


def say(event: Event, generation: Generation) -> tuple[WireEvent, ...]:
    """Translate one event for a client.

    Args:
        event: What to say, as generation 3 means it.
        generation: The dialect of the client.

    Returns:
        The events to send, in order; none if the client has nothing to show for it.
    """
    if isinstance(event, CitationCollection):
        event = CitationCollection(tuple(map(break_unsafe_urls, event.citations)))
    match generation:
        case Generation.ONE:
            return _say_one(event)
        case Generation.TWO:
            return _say_two(event)
        case Generation.THREE:
            return (_wire(event, payload(event)),)
    assert_never(generation)


def payload(event: Event) -> dict[str, Json]:
    """The data of an event in generation 3: its fields without nulls and empty defaults."""
    match event:
        case MessageChunk(delta):
            return {"delta": delta}
        case FunctionCall(input_arguments=arguments):
            return {**_generic(event), "input_arguments": _asked(event.function, arguments)}
        case StatusUpdate(details=[_, *_]):
            return _with_details(_generic(event), event.details)
    return _generic(event)


def echo_of(call: FunctionCall, generation: Generation) -> CallMessage:
    """The message by which a client of this generation repeats the call in its next request."""
    data = say(call, generation)[0][1]
    arguments = data["input_arguments"]
    return CallMessage(call.function, arguments if isinstance(arguments, Mapping) else {})


def _say_one(event: Event) -> tuple[WireEvent, ...]:
    match event:
        case FunctionCall():
            return (_wire(event, _call_one(event)),)
        case MessageArtifact():
            return _chunk(_artifact_text(event))
        case CitationCollection(citations):
            named = sources_line(one.source_info for one in citations)
            return _chunk(inert(named)) if citations else ()
    return _as_understood(event, Generation.ONE)


def _say_two(event: Event) -> tuple[WireEvent, ...]:
    match event:
        case FunctionCall():
            return (_wire(event, _call_two(event)),)
        case StatusUpdate():
            return () if event.hidden else (_wire(event, _status_two(event)),)
        case MessageArtifact():
            return (_wire(event, _artifact_two(event)),)
        case CitationCollection():
            return (_wire(event, _citations_two(event)),)
    return _as_understood(event, Generation.TWO)


def _as_understood(event: Event, generation: Generation) -> tuple[WireEvent, ...]:
    return (_wire(event, payload(event)),) if event.understood_since <= generation else ()


def _wire(event: Event, data: Mapping[str, Json]) -> WireEvent:
    return event.name, data


def _chunk(text: str) -> tuple[WireEvent, ...]:
    return ((MessageChunk.name, {"delta": f"\n\n{text}\n\n"}),) if text else ()


def _call_one(call: FunctionCall) -> dict[str, Json]:
    sources = _sources(call)
    if not sources or not sources[0].widget_uuid:
        return payload(call)
    asked: JsonObject = {"widget_uuid": sources[0].widget_uuid}
    return {
        "function": call.function,
        "input_arguments": asked,
        "copilot_function_call_arguments": asked,
        **_extra_state(call),
    }


def _call_two(call: FunctionCall) -> dict[str, Json]:
    sources = _sources(call)
    if not sources:
        return payload(call)
    named: list[Json] = [{"origin": one.origin, "widget_id": one.id} for one in sources]
    return {
        "function": call.function,
        "input_arguments": _asked(call.function, call.input_arguments),
        "copilot_function_call_arguments": {"data_sources": named},
        **_extra_state(call),
    }


def _extra_state(call: FunctionCall) -> dict[str, Json]:
    return {"extra_state": _without_nulls(call.extra_state)} if call.extra_state else {}


def _sources(call: FunctionCall) -> tuple[DataSource, ...]:
    known = call.function in WIDGET_DATA_FUNCTIONS
    return data_sources(call.input_arguments) if known else ()


def _asked(function: str, arguments: JsonObject) -> Json:
    """Arguments without nulls; the source objects hold exactly what every known client accepts."""
    sources = data_sources(arguments) if function in WIDGET_DATA_FUNCTIONS else ()
    if sources:
        return {"data_sources": [source.asked() for source in sources]}
    return _without_nulls(arguments)


def _shown(detail: JsonObject | str) -> Json:
    if isinstance(detail, str):
        return detail
    shown = {name: value for name, value in detail.items() if name.lower() not in _HIDDEN_DETAILS}
    return _without_nulls(shown)


def _with_details(data: dict[str, Json], details: Sequence[JsonObject | str]) -> dict[str, Json]:
    """The data with those details of which something is shown; an empty one is an empty table."""
    shown: list[Json] = [one for one in map(_shown, details) if one]
    if not shown:
        del data["details"]
        return data
    return {**data, "details": shown}


def _as_object(detail: JsonObject | str) -> JsonObject:
    return {"text": detail} if isinstance(detail, str) else detail


def _status_two(status: StatusUpdate) -> dict[str, Json]:
    objects = [_as_object(detail) for detail in status.details if detail]
    data = payload(replace(status, details=tuple(objects)))
    if status.artifacts:
        data["artifacts"] = [_artifact_two(artifact) for artifact in status.artifacts]
    return data


def _artifact_two(artifact: MessageArtifact) -> dict[str, Json]:
    data = payload(artifact)
    data.pop("query_data_source", None)
    match artifact.type:
        case ArtifactType.TEXT | ArtifactType.TABLE:
            return data
        case ArtifactType.CHART:
            if _chart_type(artifact) in _ROUND_CHARTS:
                data.pop("chart_params", None)
                data["type"] = ArtifactType.TABLE.value
            return data
        case ArtifactType.HTML | ArtifactType.SNOWFLAKE_QUERY | ArtifactType.SNOWFLAKE_PYTHON:
            return {**data, "type": ArtifactType.TEXT.value, "content": _artifact_text(artifact)}
    assert_never(artifact.type)


def _chart_type(artifact: MessageArtifact) -> Json:
    return (artifact.chart_params or {}).get("chartType")


def _artifact_text(artifact: MessageArtifact) -> str:
    if not isinstance(artifact.content, str):
        return inert(markdown_table(artifact.content))
    if artifact.type is ArtifactType.HTML:
        return inert(html_text(artifact.content))
    return artifact.content


def _citations_two(collection: CitationCollection) -> dict[str, Json]:
    citations: list[Json] = []
    for citation in collection.citations:
        data = _generic(citation)
        citations.append({k: data[k] for k in ("source_info", "details") if k in data})
    return {"citations": citations}


def _generic(value: object) -> dict[str, Json]:
    data: dict[str, Json] = {}
    for one in fields(value):  # type: ignore[arg-type]  # only ever called with dataclasses
        member = getattr(value, one.name)
        if member is None or (not member and member == _default(one)):
            continue
        data[one.metadata.get("wire", one.name)] = (
            member if one.name in _OWN_NULLS else _without_nulls(_json(member))
        )
    return data


def _default(one: Field[object]) -> object:
    if one.default_factory is not MISSING:
        return one.default_factory()
    return one.default


def _json(member: object) -> Json:
    if isinstance(member, Enum):
        return str(member.value)
    if is_dataclass(member):
        return _generic(member)
    if isinstance(member, Sequence) and not isinstance(member, str):
        return [_json(element) for element in member]
    return member  # type: ignore[return-value]  # fields of events are JSON, enums or dataclasses


def _without_nulls(value: Json) -> Json:
    return rebuild(value, keep=lambda name, member, parent: member is not None, leave=_OWN_NULLS)
