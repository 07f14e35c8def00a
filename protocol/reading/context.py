"""Read the context: artifacts of the chat (generations 2 and 3) or widget data (generation 1)."""

from collections.abc import Mapping

from protocol.json import Json
from protocol.models import ContextItem
from protocol.reading.data import read_source_data
from protocol.reading.data_messages import SchemaChecks, read_data_item, says_data
from protocol.reading.fields import Fields
from protocol.reading.notes import Notes


def read_context(raw: Json, *, notes: Notes, schemas: SchemaChecks) -> tuple[ContextItem, ...]:
    """Read a list of items, one item, or a plain text."""
    elements = raw if isinstance(raw, list | tuple) else [] if raw is None else [raw]
    items = []
    for index, one in enumerate(elements):
        path = f"context[{index}]"
        if isinstance(one, str):
            items.append(ContextItem(data=read_source_data(one, path=path, notes=notes)))
        elif isinstance(one, Mapping) and says_data(one):
            message = read_data_item(one, path=path, notes=notes, schemas=schemas)
            items += [message] if message else []
        elif isinstance(one, Mapping):
            items.append(_item(Fields(one, path=path, notes=notes)))
        else:
            notes.dropped(path, wanted="an object or text")
    return tuple(items)


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
