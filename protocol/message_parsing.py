"""Parse the conversation of a request: messages, function calls, results and Data messages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
import json

from protocol.citations import artifact_names, strip_markers
from protocol.data import MISSING, TYPES, read_data_message
from protocol.functions import GET_WIDGET_DATA
from protocol.json import Fields, Json, JsonObject, MalformedJson, Notes, list_of, loads, object_of
from protocol.models import (
    ORCHESTRATOR,
    AiMessage,
    CallMessage,
    CommandResult,
    ContextItem,
    DataItem,
    FileReference,
    HumanMessage,
    Message,
    ResultMessage,
    SourceData,
    SourceError,
    SourceResult,
)

_ROLES = {"human": "human", "user": "human", "ai": "ai", "assistant": "ai", "tool": "tool"}
_MAX_ENCODINGS = 3  # some clients encode the call as a text twice
_STATUSES = ("success", "error", "warning")  # of a command
_ENVELOPE = frozenset({"items", "content", "url", "error_type", "status", "data"})


def parse_messages(raw: Sequence[Json], *, notes: Notes) -> tuple[Message, ...]:
    """Parse every usable message, oldest first; Data messages aren't part of the conversation."""
    messages: list[Message] = []
    for index, one in enumerate(raw):
        path = f"messages[{index}]"
        if not isinstance(one, Mapping):
            notes.dropped(path, wanted="an object")
        # An element of nothing but Data messages is none of the conversation.
        elif not (parts := list(_data_parts(one))) or len(parts) < len(list_of(one.get("content"))):
            previous = messages[-1] if messages else None
            message = _parse_message(Fields(one, path=path, notes=notes), previous=previous)
            messages += [message] if message else []
    # An orchestrator's message is a task if it is the last one, or if an agent answers it. Before a
    # human message it is the orchestrator's own answer.
    return tuple(
        HumanMessage(message.text, agent_id=message.agent_id)
        if isinstance(message, AiMessage)
        and message.agent_id == ORCHESTRATOR
        and not isinstance(following, HumanMessage)
        else message
        for message, following in zip(messages, [*messages[1:], None], strict=False)
    )


def role_of(message: JsonObject) -> str | None:
    """Return human, ai or tool, also for synonyms of model vendors and with stray spaces."""
    role = message.get("role")
    return _ROLES.get(role.strip().lower()) if isinstance(role, str) else None


def decode_call(content: Json) -> JsonObject | None:
    """Return the call in an ai message: an object, or JSON that is encoded up to twice."""
    value = _text_of_parts(content)
    for _ in range(_MAX_ENCODINGS):
        if not isinstance(value, str) or not value.lstrip().startswith(("{", '"')):
            break
        try:
            value = loads(value.encode(errors="replace"))
        except MalformedJson:
            return None
    if isinstance(value, Mapping) and isinstance(value.get("function"), str):
        return value
    return None


def parse_source_data(raw: Json, *, path: str, notes: Notes) -> SourceData:
    """Parse the data of one source: `{items}`, `{content}`, a file reference, text or any JSON."""
    if not isinstance(raw, Mapping):
        return SourceData(() if raw is None else (_item_of(raw),))
    fields = Fields(raw, path=path, notes=notes)
    citations = tuple(citation.raw for citation in fields.objects("extra_citations"))
    if "items" in raw:
        return SourceData(tuple(_parse_items(fields)), citations)
    if "content" in raw or "url" in raw:
        item = _parse_item(fields)
        return SourceData((item,) if item else (), citations)
    if not raw:
        return SourceData(())
    notes.add(f"`{path}` has neither `items` nor `content`; it was taken as data as it is.")
    return SourceData((_item_of(raw),))


def find_data_messages(raw: Sequence[Json]) -> dict[str, JsonObject]:
    """Return the Data messages among the messages of a request by their path, in order."""
    return {
        f"messages[{index}]{place}": part
        for index, one in enumerate(raw)
        if isinstance(one, Mapping)
        for place, part in _data_parts(one)
    }


def is_data(raw: Json) -> bool:
    """Return whether an element declares itself a Data message."""
    return isinstance(raw, Mapping) and _body(raw).get("type") in TYPES


def parse_data_message(raw: JsonObject, *, path: str, notes: Notes) -> ContextItem | None:
    """Parse a Data message, flat or in an envelope `{role, content}`; an unusable one is noted.

    A client may speak only for the user, so its role doesn't count.
    """
    body = {"_instance": raw.get("_instance"), **_body(raw)}
    if not (
        all(isinstance(body.get(name), str | None) for name in ("kind", "description"))
        and isinstance(body["_instance"], str | int | None)
        and isinstance(body.get("schema"), Mapping | bool | None)
    ):
        notes.dropped(path, wanted="a Data message of texts and a JSON Schema")
        return None
    message = read_data_message(body)
    has_parts = message.data is not MISSING or message.schema is not MISSING
    if not has_parts and not message.description.strip():
        notes.dropped(path, wanted="a Data message with data, a schema or a description")
        return None
    return ContextItem(message=message)


def _parse_message(fields: Fields, *, previous: Message | None) -> Message | None:
    raw, role = fields.raw, role_of(fields.raw)
    text = object_of(raw.get("content", raw))  # of Agent/Data: flat or enveloped, without a role
    if raw.get("role") is None and text.get("type") == "text":
        role = "human"
    if role == "tool":
        return _parse_result(fields, previous=previous)
    if role is None:
        fields.notes.add(f"`{fields.path}` was left out: its role is not human, ai or tool.")
        return None
    content = _content(fields)
    if role == "ai" and (call := decode_call(content)):
        own = ("function", "input_arguments")
        extra = {key: value for key, value in call.items() if key not in own}
        members = Fields(call, path=fields.at("content"), notes=fields.notes)
        return CallMessage(members.text("function"), members.object("input_arguments"), extra)
    if not isinstance(content, str):
        wanted = "not text" if role == "human" else "neither text nor a function call"
        fields.notes.add(f"`{fields.path}` was left out: its content is {wanted}.")
        return None
    if role == "human":
        return HumanMessage(content)
    agent_id = fields.optional_text("agent_id")
    return AiMessage(strip_markers(content), agent_id=agent_id, artifacts=artifact_names(content))


def _content(fields: Fields) -> Json:
    """Return the content; for a list of parts, its text and a note of the parts without text."""
    content = fields.raw.get("content")
    if content is None and fields.raw.get("type") == "text":
        content = fields.raw.get("text")
    text = _text_of_parts(content)
    if text is not content and isinstance(content, list | tuple):
        for index, part in enumerate(content):
            if _text_of_part(part) is None and not is_data(part):
                fields.notes.dropped(f"{fields.at('content')}[{index}]", wanted="text")
    return text


def _text_of_parts(content: Json) -> Json:
    """Return the text of a list of parts; any other content unchanged.

    Source: the chat APIs of model vendors, whose format some clients send: a part is an object with
    a `text`, or a plain text. Others, such as images, have no text.
    """
    if isinstance(content, Mapping) and content.get("type") == "text":
        content = [content]
    if not isinstance(content, list | tuple):
        return content
    texts = [text for part in content if (text := _text_of_part(part)) is not None]
    return "\n".join(texts) if texts else content


def _text_of_part(part: Json) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else None


def _parse_result(fields: Fields, *, previous: Message | None) -> ResultMessage:
    """Parse a tool message; missing fields are copied from the call before it."""
    call = previous if isinstance(previous, CallMessage) else CallMessage(GET_WIDGET_DATA)
    function = fields.optional_text("function")
    if function is None:
        fields.notes.add(f"`{fields.at('function')}` is missing; {call.function} was assumed.")
    return ResultMessage(
        function or call.function,
        fields.object("input_arguments") or call.input_arguments,
        tuple(_parse_results(fields)),
        fields.object("extra_state"),
    )


def _parse_results(fields: Fields) -> Iterator[SourceResult]:
    """Yield one result per source of generations 2 and 3; generation 1 has a single one.

    An unusable element becomes an empty one, so that indexes don't shift. A list of elements
    without an envelope is one table.
    """
    name = "data" if fields.raw.get("data") is not None else "content"
    raw, path = fields.raw.get(name), fields.at(name)
    parts = raw if name == "content" and isinstance(raw, list | tuple) else ()
    if any(object_of(one).get("type") == "text" for one in parts):
        raw = _content(fields)
    if raw is None:
        fields.notes.add(f"`{fields.path}` has neither `data` nor `content`; it counts as empty.")
    elif not isinstance(raw, list | tuple):
        yield _parse_source(raw, path=path, notes=fields.notes)
    elif raw and all(object_of(one) and _ENVELOPE.isdisjoint(object_of(one)) for one in raw):
        yield SourceData((_item_of(raw),))
    else:
        for index, one in enumerate(raw):
            yield _parse_source(one, path=f"{path}[{index}]", notes=fields.notes)


def _parse_source(raw: Json, *, path: str, notes: Notes) -> SourceResult:
    known = object_of(raw)
    error, status, data = known.get("error_type"), known.get("status"), known.get("data")
    if isinstance(error, str):
        return SourceError(error, _as_text(known.get("content", "")))
    if status not in _STATUSES or "items" in known or "content" in known:
        return parse_source_data(raw, path=path, notes=notes)
    own = {"status", "message"} | ({"data"} if isinstance(data, Mapping) else set())
    about = {name: one for name, one in known.items() if name not in own and one is not None}
    message = Fields(known, path=path, notes=notes).text("message")
    return CommandResult(str(status), message, object_of(data), about)


def _parse_items(fields: Fields) -> Iterator[DataItem | FileReference]:
    raw = fields.raw["items"]
    if isinstance(raw, str | Mapping):
        fields = Fields({"items": [raw]}, path=fields.path, notes=fields.notes)
    for index, one in enumerate(fields.list("items")):
        path = f"{fields.at('items')}[{index}]"
        item: DataItem | FileReference | None = None
        if isinstance(one, Mapping):
            item = _parse_item(Fields(one, path=path, notes=fields.notes))
        elif isinstance(one, str):
            item = _item_of(one)
        if item:
            yield item
        else:
            fields.notes.dropped(path, wanted="a data item or a file reference")


def _parse_item(fields: Fields) -> DataItem | FileReference | None:
    """Return one item; a `content` that isn't text becomes JSON."""
    content, url = fields.raw.get("content"), fields.raw.get("url")
    data_format = fields.object("data_format")
    if "type" in data_format and "data_type" not in data_format:  # the format of generation 2
        others = {key: value for key, value in data_format.items() if key != "type"}
        data_format = {"data_type": "object", "parse_as": data_format["type"], **others}
    citable = fields.flag("citable", default=True)
    if content is not None:
        item = _item_of(content)
        return replace(item, data_format=data_format or item.data_format, citable=citable)
    if isinstance(url, str) and url:
        return FileReference(url=url, data_format=data_format, citable=citable)
    return None


def _item_of(content: Json) -> DataItem:
    """Return an item without a format of its own: rows are a table, other JSON is text."""
    if isinstance(content, str):
        return DataItem(content=content)
    is_table = isinstance(content, list | tuple) and all(isinstance(r, Mapping) for r in content)
    form = {"data_type": "object", "parse_as": "table" if is_table else "text"}
    return DataItem(content=_as_text(content), data_format=form)


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _data_parts(message: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield the Data messages in a message; tool results and texts never contain any."""
    content = message.get("content")
    if role_of(message) == "tool" or (isinstance(content, str) and "role" in message):
        return
    if isinstance(content, list | tuple):
        for index, part in enumerate(content):
            if isinstance(part, Mapping) and is_data(part):
                yield f".content[{index}]", part
    elif is_data(message):
        yield "", message


def _body(raw: JsonObject) -> JsonObject:
    content = raw.get("content")
    return content if isinstance(content, Mapping) else raw
