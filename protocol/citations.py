"""Read the citations that come with data, as far as every client can show them.

Source: the citations of generation 3. A client that meets one wrong member may refuse the whole
collection, so a member that is not what it should be is left out, and a citation without a source
is none.
"""

from collections.abc import Iterator
from uuid import UUID

from protocol.events import Citation
from protocol.json import Json, JsonObject
from protocol.reading.fields import Fields
from protocol.reading.notes import Notes
from protocol.shapes import is_number, whole_number_of

_TYPES = frozenset({"widget", "direct retrieval", "web", "artifact"})
_TEXTS = ("origin", "widget_id", "name", "description")
_EDGES = ("x0", "top", "x1", "bottom")


def read_citation(raw: JsonObject, *, id: UUID) -> Citation | None:
    """One citation; None where it names no source or may not be cited.

    Args:
        raw: As the client gave it.
        id: For one that has no id, or one that is no uuid.
    """
    fields = Fields(raw, path="", notes=Notes())
    source = _source(Fields(fields.object("source_info"), path="", notes=fields.notes))
    if not source:
        return None
    return Citation(
        id=_uuid(raw.get("id")) or str(id),
        source_info=source,
        details=tuple(detail.raw for detail in fields.objects("details")),
        quote_bounding_boxes=tuple(_quotes(fields)),
    )


def _source(info: Fields) -> JsonObject:
    """What is cited; empty where it cannot be."""
    if info.text("type") not in _TYPES or not info.flag("citable", default=True):
        return {}
    about = {"uuid": _uuid(info.raw.get("uuid")), **{name: info.text(name) for name in _TEXTS}}
    known = {name: text for name, text in about.items() if text}
    return {
        "type": info.text("type"),
        **known,
        "metadata": info.object("metadata"),
        "citable": True,
    }


def _quotes(fields: Fields) -> Iterator[tuple[JsonObject, ...]]:
    """The boxes of each quote that has any."""
    for quote in fields.list("quote_bounding_boxes"):
        boxes = Fields({"boxes": quote}, path="", notes=fields.notes).objects("boxes")
        places = tuple(box for one in boxes if (box := _box(one)))
        if places:
            yield places


def _box(fields: Fields) -> JsonObject:
    page = fields.raw.get("page")
    edges = {name: fields.raw.get(name) for name in _EDGES}
    if whole_number_of(page) is None or not all(map(is_number, edges.values())):
        return {}
    return {"text": fields.text("text"), "page": page, **edges}


def _uuid(value: Json) -> str | None:
    try:
        return str(UUID(value)) if isinstance(value, str) else None
    except ValueError:
        return None
