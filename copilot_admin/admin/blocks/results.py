"""What a client sent back for a function call, source by source."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from copilot_admin.admin.blocks.contents import ON_THE_PAGE, DataExcerpt, ShownRoom, content_of
from copilot_admin.admin.blocks.fields import (
    list_in,
    object_in,
    objects_in,
    text_in,
)
from copilot_admin.transcripts.queries import MessageView
from protocol.json import Json, JsonObject, object_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceResult:
    """What one asked source returned.

    Attributes:
        name: The asked source; empty when the call named none.
        error: Why there is no data, in the client's words.
        status: How a command to the client ended: success, error, warning.
        file: The address of a file, without its signature.
    """

    name: str = ""
    error_type: str = ""
    error: str = ""
    status: str = ""
    message: str = ""
    file: str = ""
    content: DataExcerpt | None = None

    @property
    def failed(self) -> bool:
        """Whether the source gave an error."""
        return bool(self.error_type or self.error) or self.status == "error"


def results_of(message: MessageView, *, room: ShownRoom = ON_THE_PAGE) -> Iterator[SourceResult]:
    """What came back, in the order in which it was asked for; as many pieces as there is room for."""
    return islice(_all_results(message, room), room.pieces)


def _all_results(message: MessageView, room: ShownRoom) -> Iterator[SourceResult]:
    data = message.data or {}
    asked = objects_in(object_in(data, "input_arguments"), "data_sources")
    for index, raw in enumerate(list_in(data, "data")):
        name = _source_name(asked[index]) if index < len(asked) else ""
        yield from _results(object_of(raw), name, f"n{message.node_id}-{index}", room)


def _results(raw: JsonObject, name: str, key: str, room: ShownRoom) -> Iterator[SourceResult]:
    if "error_type" in raw:
        yield SourceResult(
            name=name, error_type=text_in(raw, "error_type"), error=text_in(raw, "content")
        )
    elif "status" in raw:
        yield SourceResult(
            name=name,
            status=text_in(raw, "status"),
            message=text_in(raw, "message"),
            content=content_of(_told(raw), key=key, room=room),
        )
    else:
        for index, item in enumerate(objects_in(raw, "items")):
            yield _item(item, name, f"{key}-{index}", room)


def _told(raw: JsonObject) -> Json:
    about = {name: value for name, value in raw.items() if name not in ("status", "message")}
    return about if about.keys() - {"data"} else raw.get("data")


def _item(item: JsonObject, name: str, key: str, room: ShownRoom) -> SourceResult:
    file_name = text_in(object_in(item, "data_format"), "filename")
    if "url" in item:
        return SourceResult(name=file_name or name, file=text_in(item, "url"))
    return SourceResult(
        name=file_name or name, content=content_of(item.get("content"), key=key, room=room)
    )


def _source_name(source: JsonObject) -> str:
    origin, widget = text_in(source, "origin"), text_in(source, "id")
    return " / ".join(filter(None, (origin, widget))) or text_in(source, "widget_uuid")
