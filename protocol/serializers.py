"""Events as the data of the client's generation.

Source: the response events of the three generations of the copilot protocol. An event that an older
client doesn't support is converted (a table becomes Markdown text) or left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from html import unescape
import re

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
from protocol.functions import WIDGET_DATA_FUNCTIONS, DataSource, data_sources, get_widget_data_call
from protocol.json import Json, JsonObject, object_of, text_of
from protocol.models import CallMessage, Generation

# The client uses these keys internally; they are noise in the details of a step.
_HIDDEN_DETAILS = re.compile(
    "lastupdated|source|id|uuid|storedfileuuid|url|datakey|originalfilename|extension|category"
    "|subcategory|transcript_url",
    re.IGNORECASE,
)
_ROUND_CHARTS = frozenset({"pie", "donut"})  # generation 2 draws lines, bars and points only
_CITED = ("source_info", "details")  # of a citation in generation 2
_OWN_NULLS = frozenset({"input_args", "content"})  # the client's arguments and table cells
MAX_CELLS = 50_000  # rows with disjoint keys make a table of quadratic size
_BLANK = re.compile(r"[\r\n]+")
# A script or style without an end tag extends to the end of the text.
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1[^>]*>|\Z)", re.IGNORECASE | re.DOTALL)
_BLOCK_END = re.compile(
    r"<(?:br|hr)\b[^<>]*>|</(?:p|div|li|tr|h[1-6]|ul|ol|table|section|article|blockquote|pre)\s*>",
    re.IGNORECASE,
)
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{20,}+;?")  # no character has such a long number
_CELL_END = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
_COMMENT_OR_TAG = re.compile(r"</?[a-zA-Z!][^<>]*>")
# An image in Markdown is a link after "!". Possessive matching scans a run of them in one pass.
_IMAGE_MARK = re.compile(r"(?<!!)!++(?=\[)")
_TAG_MARK = re.compile(r"<(?=[a-zA-Z/!?])")
_SPACES = re.compile(r"[ \t\xa0]+")
_EMPTY_LINES = re.compile(r"\n{3,}")


def serialize(event: Event, generation: Generation) -> tuple[WireEvent, ...]:
    """Return the events to send for an event of generation 3, in the dialect of the client."""
    if isinstance(event, CitationCollection):
        event = CitationCollection(tuple(map(break_unsafe_urls, event.citations)))
    match event, generation:
        case FunctionCall() as call, Generation.ONE | Generation.TWO:
            data = _older_call(call, generation)
        case MessageArtifact() as artifact, Generation.ONE:
            return _chunk(_artifact_text(artifact))
        case MessageArtifact() as artifact, Generation.TWO:
            data = _artifact_two(artifact)
        case StatusUpdate(hidden=hidden) as status, Generation.TWO:
            if hidden:
                return ()
            data = _status_two(status)
        case CitationCollection(citations), Generation.ONE:
            return _chunk(inert(sources_line(one.source_info for one in citations)))
        case CitationCollection(citations), Generation.TWO:
            objects = map(_to_object, citations)
            data = {"citations": [{k: v for k, v in one.items() if k in _CITED} for one in objects]}
        case _:
            if event.understood_since > generation:
                return ()
            data = payload(event)
    return ((event.name, data),)


def payload(event: Event) -> dict[str, Json]:
    """Return the data of an event in generation 3: its fields without nulls and empty defaults."""
    match event:
        case MessageChunk(delta):
            return {"delta": delta}
        case FunctionCall(function=function, input_arguments=arguments):
            sources = _widget_sources(function, arguments)
            # Their objects contain only keys that all clients accept.
            known = {"input_arguments": get_widget_data_call(sources)} if sources else {}
            return {**_to_object(event), **known}
        case StatusUpdate(details=[_, *_]):
            shown = (one for one in map(_visible_detail, event.details) if one)
            return _to_object(replace(event, details=tuple(shown)))
    return _to_object(event)


def echo_of(call: FunctionCall, generation: Generation) -> CallMessage:
    """Return the message with which a client repeats a call in its next request."""
    data = serialize(call, generation)[0][1]
    arguments = data["input_arguments"]
    return CallMessage(call.function, arguments if isinstance(arguments, Mapping) else {})


def _chunk(text: str) -> tuple[WireEvent, ...]:
    return ((MessageChunk.name, {"delta": f"\n\n{text}\n\n"}),) if text else ()


def _older_call(call: FunctionCall, generation: Generation) -> dict[str, Json]:
    """Return a data call with `copilot_function_call_arguments`; generation 1 has one widget."""
    data = payload(call)
    sources = _widget_sources(call.function, call.input_arguments)
    if not sources or (generation is Generation.ONE and not sources[0].widget_uuid):
        return data
    repeated: Json = {"data_sources": [{"origin": s.origin, "widget_id": s.id} for s in sources]}
    if generation is Generation.ONE:
        data["input_arguments"] = repeated = {"widget_uuid": sources[0].widget_uuid}
    extra_state = {"extra_state": data.pop("extra_state")} if "extra_state" in data else {}
    return {**data, "copilot_function_call_arguments": repeated, **extra_state}


def _widget_sources(function: str, arguments: JsonObject) -> tuple[DataSource, ...]:
    return data_sources(arguments) if function in WIDGET_DATA_FUNCTIONS else ()


def _visible_detail(detail: JsonObject | str) -> JsonObject | str:
    if isinstance(detail, str):
        return detail
    shown = {name: value for name, value in detail.items() if not _HIDDEN_DETAILS.fullmatch(name)}
    return object_of(_without_nulls(shown))


def _status_two(status: StatusUpdate) -> dict[str, Json]:
    objects = [{"text": one} if isinstance(one, str) else one for one in status.details if one]
    data = payload(replace(status, details=tuple(objects)))
    if status.artifacts:
        data["artifacts"] = [_artifact_two(artifact) for artifact in status.artifacts]
    return data


def _artifact_two(artifact: MessageArtifact) -> dict[str, Json]:
    data = payload(artifact)
    data.pop("query_data_source", None)
    if artifact.type is ArtifactType.CHART:
        if (artifact.chart_params or {}).get("chartType") in _ROUND_CHARTS:
            del data["chart_params"]
            data["type"] = ArtifactType.TABLE.value
    elif artifact.type not in (ArtifactType.TEXT, ArtifactType.TABLE):
        data |= {"type": ArtifactType.TEXT.value, "content": _artifact_text(artifact)}
    return data


def _artifact_text(artifact: MessageArtifact) -> str:
    if not isinstance(artifact.content, str):
        return inert(markdown_table(artifact.content))
    if artifact.type is ArtifactType.HTML:
        return inert(html_text(artifact.content))
    return artifact.content


def _to_object(value: object) -> dict[str, Json]:
    """Return the fields of a dataclass under their wire names, without nulls and empty defaults."""
    data: dict[str, Json] = {}
    for one in fields(value):  # type: ignore[arg-type]  # only ever called with dataclasses
        member = getattr(value, one.name)
        is_optional = one.default is not MISSING or one.default_factory is not MISSING
        if member is None or (not member and is_optional):
            continue
        data[one.metadata.get("wire", one.name)] = (
            member if one.name in _OWN_NULLS else _to_json(member)
        )
    return data


def _to_json(member: object) -> Json:
    if isinstance(member, Enum):
        return str(member.value)
    if is_dataclass(member):
        return _to_object(member)
    if isinstance(member, tuple):
        return [_to_json(element) for element in member if element is not None]
    return _without_nulls(member)  # type: ignore[arg-type]  # other fields of events are JSON


def _without_nulls(value: Json) -> Json:
    match value:
        case Mapping():
            return {
                name: member if name in _OWN_NULLS else _without_nulls(member)
                for name, member in value.items()
                if member is not None
            }
        case list() | tuple():
            return [_without_nulls(member) for member in value if member is not None]
    return value


def markdown_table(rows: Sequence[JsonObject]) -> str:
    """Return a Markdown table of all columns in the order in which the rows first name them.

    A table with too many cells is truncated, and a last line reports the number of omitted rows.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not columns:
        return ""
    shown = rows[: max(MAX_CELLS // len(columns), 1)]
    lines = [
        _line(columns),
        _line("---" for _ in columns),
        *(_line(_cell(row.get(name)) for name in columns) for row in shown),
    ]
    if len(shown) < len(rows):
        lines += ["", f"{len(rows) - len(shown)} more rows are left out: the table is too large."]
    return "\n".join(lines)


def html_text(html: str) -> str:
    """Return the text that a browser would display for a piece of HTML."""
    text = _BLOCK_END.sub("\n", _UNSEEN.sub("", html))
    text = _COMMENT_OR_TAG.sub("", _CELL_END.sub("\t", text))
    text = unescape(_ENDLESS_NUMBER.sub("\ufffd", text))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def sources_line(sources: Iterable[JsonObject]) -> str:
    """Return one line that names each cited source, or an empty text."""
    names = ", ".join(dict.fromkeys(map(_source_name, sources)))
    return f"Sources: {names}" if names else ""


def inert(text: str) -> str:
    """Return the text without anything that a Markdown viewer would load automatically.

    Cells, the text of HTML and names of sources are not Markdown, but may contain its syntax.
    """
    return _TAG_MARK.sub("< ", _IMAGE_MARK.sub("", text))


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_BLANK.sub(" ", cell).replace("|", "\\|") for cell in cells) + " |"


def _cell(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{name}: {_shallow(member)}" for name, member in value.items())
        case list() | tuple():
            return ", ".join(map(_shallow, value))
    return str(value)


def _shallow(value: Json) -> str:
    return "…" if isinstance(value, Mapping | list | tuple) else _cell(value)


def _source_name(source: JsonObject) -> str:
    candidates = (text_of(source.get(key)) for key in ("name", "widget_id", "origin", "type"))
    return next(filter(None, candidates), "source")
