"""Read the context: artifacts of the chat (generations 2 and 3) or widget data (generation 1)."""

from collections.abc import Mapping
from dataclasses import replace

from protocol.data.message import MISSING, TYPES, DataMessage, kind_from, read_data_message
from protocol.json import Json, JsonObject
from protocol.json_schema import schema_fault
from protocol.query import ContextItem
from protocol.reading.data import read_source_data
from protocol.reading.fields import Fields
from protocol.reading.notes import Notes


def read_context(raw: Json, *, notes: Notes) -> tuple[ContextItem, ...]:
    """Read a list of items, one item, or a plain text."""
    elements = raw if isinstance(raw, list | tuple) else [] if raw is None else [raw]
    items = []
    for index, one in enumerate(elements):
        path = f"context[{index}]"
        if isinstance(one, str):
            items.append(ContextItem(data=read_source_data(one, path=path, notes=notes)))
        elif isinstance(one, Mapping) and (message := _data_message(one)) is not None:
            wanted = _wanted(one, message)
            if wanted:
                notes.dropped(path, wanted=wanted)
            else:
                items.append(ContextItem(message=message))
        elif isinstance(one, Mapping):
            items.append(_item(Fields(one, path=path, notes=notes)))
        else:
            notes.dropped(path, wanted="an object or text")
    return tuple(items)


def _data_message(raw: JsonObject) -> DataMessage | None:
    """The element as a Data message, if it says that it is one.

    A client may not speak for anybody but the user, nor break a heading with its kind.
    """
    body = _body(raw)
    if body.get("type") not in TYPES:
        return None
    kind = body.get("kind")
    named = {"kind": kind_from(str(kind))} if kind else {}
    message = read_data_message({**body, **named})
    return message and replace(message, role="user")


def _wanted(raw: JsonObject, message: DataMessage) -> str:
    """What a Data message would have to be; empty when it is one."""
    body = _body(raw)
    words = [body.get("kind"), body.get("description")]
    if not all(isinstance(one, str | None) for one in words):
        return "a Data message whose kind and description are text"
    if not isinstance(body.get("_instance", raw.get("_instance")), str | int | None):
        return "a Data message whose _instance is text"
    if message.schema is not MISSING and schema_fault(message.schema):
        return "a Data message with a JSON Schema"
    if message.data is MISSING and message.schema is MISSING:
        return "a Data message with data or a schema"
    return ""


def _body(raw: JsonObject) -> JsonObject:
    """The message itself, without the envelope that it may come in."""
    content = raw.get("content")
    return content if isinstance(content, Mapping) else raw


def _item(fields: Fields) -> ContextItem:
    name = "data" if fields.raw.get("data") is not None else "content"
    data = fields.raw.get(name)
    return ContextItem(
        uuid=fields.optional_text("uuid"),
        name=fields.text("name"),
        description=fields.text("description"),
        data=read_source_data(data, path=fields.at(name), notes=fields.notes),
        metadata=fields.object("metadata"),
    )
