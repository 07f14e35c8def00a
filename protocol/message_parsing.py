"""Parse the conversation of a request: messages, function calls, results and Data messages."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
import json

from protocol.citations import artifact_names, strip_markers
from protocol.data import MISSING, TYPES, read_data_message
from protocol.fields import Field
from protocol.functions import GET_WIDGET_DATA
from protocol.json import Json, JsonObject, MalformedJson, list_of, loads, object_of
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


def parse_messages(listed: Field) -> tuple[Message, ...]:
    """Parse every usable message, oldest first; Data messages aren't part of the conversation."""
    messages: list[Message] = []
    for one in listed.elements():
        parts, content = list(_data_parts(one)), list_of(one.members.get("content"))
        if not isinstance(one.value, Mapping):
            one.drop("an object")
        # An element of nothing but Data messages is none of the conversation.
        elif not parts or len(parts) < len(content):
            message = _parse_message(one, previous=messages[-1] if messages else None)
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


def parse_source_data(source: Field) -> SourceData:
    """Parse the data of one source: `{items}`, `{content}`, a file reference, text or any JSON."""
    members = source.members
    if not isinstance(source.value, Mapping):
        return SourceData(() if source.value is None else (_item_of(source.value),))
    citations = tuple(citation.members for citation in source.objects("extra_citations"))
    if "items" in members:
        return SourceData(tuple(_parse_items(source.member("items"))), citations)
    if "content" in members or "url" in members:
        item = _parse_item(source)
        return SourceData((item,) if item else (), citations)
    if not members:
        return SourceData(())
    source.notes.add(
        f"`{source.path}` has neither `items` nor `content`; it was taken as data as it is."
    )
    return SourceData((_item_of(members),))


def find_data_messages(listed: Field) -> list[Field]:
    """Return the Data messages among the messages of a request, in order."""
    return [part for one in listed.elements() for part in _data_parts(one)]


def is_data(raw: Json) -> bool:
    """Return whether an element declares itself a Data message."""
    return isinstance(raw, Mapping) and _body(raw).get("type") in TYPES


def parse_data_message(field: Field) -> ContextItem | None:
    """Parse a Data message, flat or in an envelope `{role, content}`; an unusable one is noted.

    A client may speak only for the user, so its role doesn't count.
    """
    body = {"_instance": field.members.get("_instance"), **_body(field.members)}
    if not (
        all(isinstance(body.get(name), str | None) for name in ("kind", "description"))
        and isinstance(body["_instance"], str | int | None)
        and isinstance(body.get("schema"), Mapping | bool | None)
    ):
        field.drop("a Data message of texts and a JSON Schema")
        return None
    message = read_data_message(body)
    has_parts = message.data is not MISSING or message.schema is not MISSING
    if not has_parts and not message.description.strip():
        field.drop("a Data message with data, a schema or a description")
        return None
    return ContextItem(message=message)


def _parse_message(field: Field, *, previous: Message | None) -> Message | None:
    raw, role = field.members, role_of(field.members)
    text = object_of(raw.get("content", raw))  # of Agent/Data: flat or enveloped, without a role
    if raw.get("role") is None and text.get("type") == "text":
        role = "human"
    if role == "tool":
        return _parse_result(field, previous=previous)
    if role is None:
        field.notes.add(f"`{field.path}` was left out: its role is not human, ai or tool.")
        return None
    content = _content(field)
    if role == "ai" and (call := decode_call(content)):
        own = ("function", "input_arguments")
        extra = {key: value for key, value in call.items() if key not in own}
        members = Field(call, notes=field.notes, path=f"{field.path}.content")
        return CallMessage(members.text("function"), members.object("input_arguments"), extra)
    if not isinstance(content, str):
        wanted = "not text" if role == "human" else "neither text nor a function call"
        field.notes.add(f"`{field.path}` was left out: its content is {wanted}.")
        return None
    if role == "human":
        return HumanMessage(content)
    agent_id = field.optional_text("agent_id")
    return AiMessage(strip_markers(content), agent_id=agent_id, artifacts=artifact_names(content))


def _content(field: Field) -> Json:
    """Return the content; for a list of parts, its text and a note of the parts without text."""
    content = field.members.get("content")
    if content is None and field.members.get("type") == "text":
        content = field.members.get("text")
    text = _text_of_parts(content)
    if text is not content and isinstance(content, list | tuple):
        for part in field.member("content").elements():
            if _text_of_part(part.value) is None and not is_data(part.value):
                part.drop("text")
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


def _parse_result(field: Field, *, previous: Message | None) -> ResultMessage:
    """Parse a tool message; missing fields are copied from the call before it."""
    call = previous if isinstance(previous, CallMessage) else CallMessage(GET_WIDGET_DATA)
    function = field.optional_text("function")
    if function is None:
        field.notes.add(f"`{field.path}.function` is missing; {call.function} was assumed.")
    return ResultMessage(
        function or call.function,
        field.object("input_arguments") or call.input_arguments,
        tuple(_parse_results(field)),
        field.object("extra_state"),
    )


def _parse_results(field: Field) -> Iterator[SourceResult]:
    """Yield one result per source of generations 2 and 3; generation 1 has a single one.

    An unusable element becomes an empty one, so that indexes don't shift. A list of elements
    without an envelope is one table.
    """
    name = "data" if field.members.get("data") is not None else "content"
    source = field.member(name)
    parts = list_of(source.value) if name == "content" else ()
    if any(object_of(one).get("type") == "text" for one in parts):
        source = Field(_content(field), notes=field.notes, path=source.path)
    raw = source.value
    if raw is None:
        field.notes.add(f"`{field.path}` has neither `data` nor `content`; it counts as empty.")
    elif not isinstance(raw, list | tuple):
        yield _parse_source(source)
    elif raw and all(object_of(one) and _ENVELOPE.isdisjoint(object_of(one)) for one in raw):
        yield SourceData((_item_of(raw),))
    else:
        yield from map(_parse_source, source.elements())


def _parse_source(source: Field) -> SourceResult:
    known = source.members
    error, status, data = known.get("error_type"), known.get("status"), known.get("data")
    if isinstance(error, str):
        return SourceError(error, _as_text(known.get("content", "")))
    if status not in _STATUSES or "items" in known or "content" in known:
        return parse_source_data(source)
    own = {"status", "message"} | ({"data"} if isinstance(data, Mapping) else set())
    about = {name: one for name, one in known.items() if name not in own and one is not None}
    return CommandResult(str(status), source.text("message"), object_of(data), about)


def _parse_items(items: Field) -> Iterator[DataItem | FileReference]:
    if isinstance(items.value, str | Mapping):
        items = Field([items.value], notes=items.notes, path=items.path)
    for one in items.elements():
        item = _item_of(one.value) if isinstance(one.value, str) else _parse_item(one)
        if item:
            yield item
        else:
            one.drop("a data item or a file reference")


def _parse_item(field: Field) -> DataItem | FileReference | None:
    """Return one item; a `content` that isn't text becomes JSON."""
    content, url = field.members.get("content"), field.members.get("url")
    data_format = field.object("data_format")
    if "type" in data_format and "data_type" not in data_format:  # the format of generation 2
        others = {key: value for key, value in data_format.items() if key != "type"}
        data_format = {"data_type": "object", "parse_as": data_format["type"], **others}
    citable = field.flag("citable", default=True)
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


def _data_parts(message: Field) -> Iterator[Field]:
    """Yield the Data messages in a message; tool results and texts never contain any."""
    content = message.members.get("content")
    if role_of(message.members) == "tool" or (
        isinstance(content, str) and "role" in message.members
    ):
        return
    if isinstance(content, list | tuple):
        yield from (part for part in message.member("content").elements() if is_data(part.value))
    elif is_data(message.value):
        yield message


def _body(raw: JsonObject) -> JsonObject:
    content = raw.get("content")
    return content if isinstance(content, Mapping) else raw
