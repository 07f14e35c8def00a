"""Read the citations that come with data, as far as every client can show them.

Source: the citations of generation 3. A client that meets one wrong member may refuse the whole
collection, so a member that is not what it should be is left out, and a citation without a source
is none.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
import re
from typing import cast
from uuid import UUID

from protocol.events import Citation
from protocol.json import Json, JsonObject, is_number, whole_number_of
from protocol.reading.fields import Fields
from protocol.reading.notes import Notes
from protocol.walk import Scalar, rebuild

_TYPES = frozenset({"widget", "direct retrieval", "web", "artifact"})
_TEXTS = ("origin", "widget_id", "name", "description")
_EDGES = ("x0", "top", "x1", "bottom")
_URL_KEYS = ("url", "uri", "link", "href")  # ends of lower-case keys
_SAFE_SCHEMES = frozenset({"http", "https", "mailto"})
# Browsers skip these characters before a scheme and within it.
_SCHEME = re.compile(r"[\x00-\x20]*([a-z][a-z0-9+.\t\n\r-]*)(?=:)", re.IGNORECASE)
_SCRIPT_SCHEME = re.compile(
    r"([jJ]\s*[aA]\s*[vV]\s*[aA]|[vV]\s*[bB])\s*[sS]\s*[cC]\s*[rR]\s*[iI]\s*[pP]\s*[tT](?=:)"
)
_DATA_SCHEME = re.compile(r"\b[dD]\s*[aA]\s*[tT]\s*[aA](?=:(?:\s*[\w.+-]+/|[;,]))")
_OWN_ARGUMENTS = frozenset({"input_args"})  # by which the client finds its widget


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


class _TextFilters(dict[str, Callable[[Scalar], Scalar]]):
    """What texts become, by their key."""

    def __missing__(self, key: str) -> Callable[[Scalar], Scalar]:
        return _break_other_schemes if key.lower().endswith(_URL_KEYS) else _break_scripts


def break_unsafe_urls(citation: Citation) -> Citation:
    """Return a citation in which no client finds a URL that isn't http, https or mailto.

    A space before the colon makes such a URL plain text. Texts under keys such as `url` may have no
    other scheme; elsewhere only those that run code are looked for, since `AAPL:US` is no URL.
    """

    def clean(value: JsonObject) -> JsonObject:
        return cast(JsonObject, rebuild(value, named=_TextFilters(), leave=_OWN_ARGUMENTS))

    return replace(
        citation,
        source_info=clean(citation.source_info),
        details=tuple(map(clean, citation.details)),
    )


def _break_other_schemes(value: Scalar) -> Scalar:
    found = _SCHEME.match(value) if isinstance(value, str) else None
    if found is None or "".join(found[1].split()).lower() in _SAFE_SCHEMES:
        return _break_scripts(value)
    return f"{found[0]} {found.string[found.end() :]}"


def _break_scripts(value: Scalar) -> Scalar:
    if not isinstance(value, str) or ":" not in value:
        return value
    return _DATA_SCHEME.sub(r"\g<0> ", _SCRIPT_SCHEME.sub(r"\g<0> ", value))
