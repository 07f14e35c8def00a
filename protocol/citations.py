"""Citations that every client can show, and the client's markers of citations and artifacts.

Source: the citations of generation 3. A client may reject the full collection for one invalid
member, so invalid members and citations without a source are left out. Workspace rewrites the
artifacts and citations that an agent sent into `<|start_artifact_id|>NAME<|end_artifact_id|>` and
`<|start_citation_id|>ID<|end_citation_id|>`. The feedback form retains
`<artifact className="NAME"/>` and `<citation className="ID"/>`. A model that sees such markers
imitates them.
"""

from dataclasses import replace
import re
from typing import cast
from uuid import UUID

from protocol.events import Citation
from protocol.json import (
    Json,
    JsonObject,
    integer_of,
    is_number,
    list_of,
    object_of,
    objects_of,
    text_of,
)

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
MAX_ID_CHARACTERS = 200  # only the start of a marker without an end is removed
_MARKED = re.compile(
    rf"<\|start_(artifact|citation)_id\|>(.{{0,{MAX_ID_CHARACTERS}}}?)<\|end_\1_id\|>", re.DOTALL
)
_LEFTOVER = re.compile(
    r"<\|(?:start|end)_(?:artifact|citation)_id\|>"
    r"|<(?:artifact|citation)\b[^<>]*>|</(?:artifact|citation)\s*>"
)
_NAMED_TAG = re.compile(r"<artifact className=\"([^\"<>]{1,200})\" ?/>")
_OWN_ARGUMENTS = "input_args"  # the client finds its widget by these


def read_citation(raw: JsonObject, *, id: UUID) -> Citation | None:
    """Read one citation, or return None if it has no source or is not citable.

    `id` is used if the citation has no valid UUID.
    """
    info = object_of(raw.get("source_info"))
    if info.get("type") not in _TYPES or info.get("citable") is False:
        return None
    about = {"uuid": _uuid(info.get("uuid")), **{name: text_of(info.get(name)) for name in _TEXTS}}
    return Citation(
        id=_uuid(raw.get("id")) or str(id),
        source_info={
            "type": info["type"],
            **{name: text for name, text in about.items() if text},
            "metadata": object_of(info.get("metadata")),
            "citable": True,
        },
        details=tuple(objects_of(raw.get("details"))),
        quote_bounding_boxes=tuple(
            filter(None, map(_boxes, list_of(raw.get("quote_bounding_boxes"))))
        ),
    )


def break_unsafe_urls(citation: Citation) -> Citation:
    """Return a citation in which no client finds a URL that isn't http, https or mailto.

    A space before the colon makes such a URL plain text. Texts under keys such as `url` may have no
    other scheme; elsewhere only those that run code are broken, since `AAPL:US` is no URL.
    """
    return replace(
        citation,
        source_info=cast(JsonObject, _broken(citation.source_info)),
        details=cast(tuple[JsonObject, ...], tuple(map(_broken, citation.details))),
    )


def artifact_names(text: str) -> tuple[str, ...]:
    """Return the names of the artifacts that a text contains."""
    marked = (match[2] for match in _MARKED.finditer(text) if match[1] == "artifact")
    return (*marked, *(tag[1] for tag in _NAMED_TAG.finditer(text)))


def strip_markers(text: str) -> str:
    """Return the text without markers; only the opening of an unterminated marker is removed."""
    return _LEFTOVER.sub("", _MARKED.sub("", text))


def _boxes(quote: Json) -> tuple[JsonObject, ...]:
    return tuple(
        {"text": text_of(one.get("text")), **{name: one[name] for name in ("page", *_EDGES)}}
        for one in objects_of(quote)
        if integer_of(one.get("page")) is not None
        and all(is_number(one.get(name)) for name in _EDGES)
    )


def _uuid(value: Json) -> str | None:
    try:
        return str(UUID(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def _broken(value: Json, key: str = "") -> Json:
    match value:
        case str():
            found = _SCHEME.match(value) if key.lower().endswith(_URL_KEYS) else None
            if found and "".join(found[1].split()).lower() not in _SAFE_SCHEMES:
                return f"{found[0]} {value[found.end() :]}"
            return _DATA_SCHEME.sub(r"\g<0> ", _SCRIPT_SCHEME.sub(r"\g<0> ", value))
        case dict():
            return {
                name: member if name == _OWN_ARGUMENTS else _broken(member, name)
                for name, member in value.items()
            }
        case list() | tuple():
            return [_broken(member, key) for member in value]
    return value
