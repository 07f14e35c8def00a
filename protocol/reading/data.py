"""Read what sources returned: tool results and context, in the shapes of every generation."""

from collections.abc import Mapping, Sequence

from protocol.json import Json, JsonObject
from protocol.models import (
    CommandResult,
    DataItem,
    FileReference,
    SourceData,
    SourceError,
    SourceResult,
)
from protocol.reading.fields import Fields, as_text
from protocol.reading.notes import Notes

_COMMAND_ENDINGS = frozenset({"success", "error", "warning"})
_OF_A_COMMAND = frozenset({"status", "message", "data"})
_TABLE: JsonObject = {"data_type": "object", "parse_as": "table"}
_TEXT: JsonObject = {"data_type": "object", "parse_as": "text"}


def read_results(raw: Json, *, path: str, notes: Notes) -> tuple[SourceResult, ...]:
    """Read the `data` of a tool message.

    Args:
        raw: A list with one element per asked source (generations 2 and 3), or what one source
            returned (generation 1).
        path: Where it stands, for the notes.
        notes: Takes what was dropped.

    Returns:
        One result per element; an element of no use stays as an empty one, so that the others
        keep their place.
    """
    if isinstance(raw, list | tuple):
        if are_rows(raw):
            return (SourceData((_item_of(raw),)),)
        return tuple(
            _read_result(one, path=f"{path}[{index}]", notes=notes) for index, one in enumerate(raw)
        )
    return () if raw is None else (_read_result(raw, path=path, notes=notes),)


def read_source_data(raw: Json, *, path: str, notes: Notes) -> SourceData:
    """Read the data of one source: `{items}`, `{content}`, a file reference, text or any JSON."""
    if not isinstance(raw, Mapping):
        return SourceData(() if raw is None else (_item_of(raw),))
    fields = Fields(raw, path=path, notes=notes)
    citations = tuple(citation.raw for citation in fields.objects("extra_citations"))
    if "items" in raw:
        return SourceData(_items(fields), citations)
    if "content" in raw or "url" in raw:
        item = _item(fields)
        return SourceData((item,) if item else (), citations)
    if not raw:
        return SourceData(())
    notes.add(f"`{path}` has neither `items` nor `content`; it was taken as data as it is.")
    return SourceData((_item_of(raw),))


def are_rows(raw: Sequence[Json]) -> bool:
    """Whether the elements of a list are rows without an envelope, which are one table."""
    return bool(raw) and all(map(_is_row, raw))


def _is_row(raw: Json) -> bool:
    known = {"items", "content", "url", "error_type", "status", "data"}
    return isinstance(raw, Mapping) and bool(raw) and known.isdisjoint(raw)


def _read_result(raw: Json, *, path: str, notes: Notes) -> SourceResult:
    if isinstance(raw, Mapping):
        fields = Fields(raw, path=path, notes=notes)
        if isinstance(raw.get("error_type"), str):
            return SourceError(fields.text("error_type"), as_text(raw.get("content", "")))
        status = raw.get("status")
        is_ending = isinstance(status, str) and status in _COMMAND_ENDINGS
        if is_ending and "items" not in raw and "content" not in raw:
            return _command_result(fields)
    return read_source_data(raw, path=path, notes=notes)


def _command_result(fields: Fields) -> CommandResult:
    """How a command ended; what is no status, message or object of data is kept beside them."""
    given = fields.raw.get("data")
    data = given if isinstance(given, Mapping) else {}
    others = {name: value for name, value in fields.raw.items() if name not in _OF_A_COMMAND}
    if not isinstance(given, Mapping):
        others["data"] = given
    about = {name: value for name, value in others.items() if value is not None}
    return CommandResult(fields.text("status"), fields.text("message"), data, about)


def _items(fields: Fields) -> tuple[DataItem | FileReference, ...]:
    raw = fields.raw["items"]
    if isinstance(raw, str | Mapping):
        raw = [raw]
        fields = Fields({**fields.raw, "items": raw}, path=fields.path, notes=fields.notes)
    items = []
    for index, one in enumerate(fields.list("items")):
        path = f"{fields.at('items')}[{index}]"
        if isinstance(one, Mapping):
            item = _item(Fields(one, path=path, notes=fields.notes))
        else:
            item = _item_of(one) if isinstance(one, str) else None
        if item:
            items.append(item)
        else:
            fields.notes.dropped(path, wanted="a data item or a file reference")
    return tuple(items)


def _item(fields: Fields) -> DataItem | FileReference | None:
    """One item; a `content` that is no text is written as JSON."""
    content, url = fields.raw.get("content"), fields.raw.get("url")
    data_format = _data_format(fields)
    citable = fields.flag("citable", default=True)
    if content is None:
        if not isinstance(url, str) or not url:
            return None
        return FileReference(url=url, data_format=data_format, citable=citable)
    item = _item_of(content)
    return DataItem(
        content=item.content, data_format=data_format or item.data_format, citable=citable
    )


def _item_of(content: Json) -> DataItem:
    """An item without a format of its own: rows are a table, other JSON is text."""
    if isinstance(content, str):
        return DataItem(content=content)
    is_table = isinstance(content, list | tuple) and all(isinstance(r, Mapping) for r in content)
    return DataItem(content=as_text(content), data_format=_TABLE if is_table else _TEXT)


def _data_format(fields: Fields) -> JsonObject:
    """The format in the words of generation 3; generation 2 says `{type}` for `{parse_as}`."""
    raw = fields.object("data_format")
    if "data_type" in raw or "type" not in raw:
        return raw
    others = {key: value for key, value in raw.items() if key != "type"}
    return {"data_type": "object", "parse_as": raw["type"], **others}
