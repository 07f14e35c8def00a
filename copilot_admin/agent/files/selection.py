"""Selection of the files that a copilot reads, from results, context and links of a question."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import TypeAlias

from copilot_admin.agent.documents.registry import data_types, format_of
from copilot_admin.agent.files.base64_files import is_plain_text, starts_like_base64
from copilot_admin.agent.files.pictures import IMAGE_TYPES
from copilot_admin.agent.values.answer_request import FileRead
from copilot_admin.agent.values.spec import CitationMode, CopilotSpec, WidgetDataMode
from copilot_admin.agent.values.turn import UPLOAD_FEATURE, messages_of_turn
from protocol.functions import EXECUTE_AGENT_TOOL, WIDGET_DATA_FUNCTIONS, DataSource, data_sources
from protocol.models import (
    ContextItem,
    DataItem,
    FileReference,
    Generation,
    Query,
    ResultMessage,
    SourceData,
    SourceResult,
    is_upload,
)
from protocol.redaction import redact_url

LINK = "link"  # the `data_type` of a URL in a question; clients don't use it
# `data_type`s that don't reveal the content: empty, and an object, which may be any data.
OPEN_TYPES = frozenset({"", "object", LINK})
MAX_NAME = 200  # characters
MAX_KIND = 20  # characters of a kind that is not known here


class Origin(Enum):
    """Source of a file; the value is the reason for not reading it."""

    UPLOAD = "This copilot doesn't accept attached files."
    WIDGET = "This copilot does not read widgets."
    TOOL = "This copilot uses no tools of MCP servers."
    LINK = "This copilot reads no links."
    CONTEXT = "This copilot reads neither attached files nor widgets."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """Rules on the files of a question that are read."""

    sees_images: bool = False  # otherwise a sentence replaces each image
    origins: frozenset[Origin] = frozenset(Origin)  # of the files that are read at all
    places: bool = True  # of text, to mark quotes


def file_rules(spec: CopilotSpec) -> FileRules:
    uploads, widgets = spec.has(UPLOAD_FEATURE), spec.widget_data is not WidgetDataMode.OFF
    read = {
        Origin.UPLOAD: uploads,
        Origin.WIDGET: widgets,
        Origin.TOOL: spec.has("mcp-tools"),
        Origin.LINK: spec.read_links,
        Origin.CONTEXT: uploads or widgets,
    }
    return FileRules(
        sees_images=spec.sees_images,
        origins=frozenset(origin for origin, is_read in read.items() if is_read),
        places=spec.citations is CitationMode.DOCUMENTS,
    )


def origin_of(item: ContextItem, *, query: Query) -> Origin:
    """Return the origin of a context item; in generation 1 it may be the data of a widget."""
    if any(one.data_format.get("data_type") == LINK for one in item.data.items):
        return Origin.LINK
    is_widget = query.generation is Generation.ONE and bool(item.uuid)
    return Origin.WIDGET if is_widget else Origin.CONTEXT


def origins_in(message: ResultMessage) -> Iterator[tuple[SourceResult, Origin]]:
    """Yield each element of a result with its origin."""
    if message.function not in WIDGET_DATA_FUNCTIONS:
        is_tool = message.function == EXECUTE_AGENT_TOOL
        yield from ((one, Origin.TOOL if is_tool else Origin.CONTEXT) for one in message.data)
        return
    nameless = DataSource()
    for source, result in zip_longest(data_sources(message.input_arguments), message.data):
        if result is not None:
            asked = source or nameless
            uploaded = is_upload(origin=asked.origin, id=asked.id)
            yield result, Origin.UPLOAD if uploaded else Origin.WIDGET


def with_links(query: Query) -> Query:
    """Return the query with the URLs in its question as files of its context."""
    links = []
    for url in dict.fromkeys(query.urls):
        address = url if "://" in url else f"https://{url}"
        reference = FileReference(url=address, data_format={"data_type": LINK}, citable=False)
        links.append(
            ContextItem(
                name=redact_url(url),
                description="Behind an address in the question.",
                data=SourceData((reference,)),
            )
        )
    return replace(query, context=(*query.context, *links))


def suffix_of(name: str) -> str:
    """Return the suffix of a file name or of the path of a URL, in lower case without the dot."""
    path = name.partition("#")[0].partition("?")[0]
    return PurePosixPath(path).suffix.lower().removeprefix(".")


Item: TypeAlias = DataItem | FileReference
Key: TypeAlias = tuple[str, Origin, str]  # kind, origin, and the content or URL


def map_items(query: Query, change: Callable[[Item, Origin, bool], Item]) -> Query:
    """Return the query with the items of its context and results changed, the newest first.

    `change` receives an item, its origin, and whether it is new in this turn.
    """

    def change_data(data: SourceData, origin: Origin, is_new: bool) -> SourceData:
        return replace(data, items=tuple(change(item, origin, is_new) for item in data.items))

    context = []
    for sent in query.context:
        data = change_data(sent.data, origin_of(sent, query=query), True)
        context.append(replace(sent, data=data))
    messages = list(query.messages)
    first_new = len(messages) - len(messages_of_turn(query))
    for number, message in reversed(list(enumerate(messages))):
        if isinstance(message, ResultMessage):
            results = (
                change_data(one, origin, number >= first_new)
                if isinstance(one, SourceData)
                else one
                for one, origin in origins_in(message)
            )
            messages[number] = replace(message, data=tuple(results))
    return replace(query, context=tuple(context), messages=tuple(messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """A file of a query, with the name of its first occurrence."""

    key: Key
    item: Item
    file: FileRead
    is_new: bool  # in this turn

    @property
    def origin(self) -> Origin:
        return self.key[1]


def wanted_in(query: Query) -> tuple[WantedFile, ...]:
    """Return the distinct files of a query, the newest first."""
    found: dict[Key, WantedFile] = {}

    def collect(item: Item, origin: Origin, is_new: bool) -> Item:
        if wanted := wanted_of(item, origin, is_new=is_new):
            found.setdefault(wanted.key, wanted)
        return item

    map_items(query, collect)
    return tuple(found.values())


def wanted_of(item: Item, origin: Origin, *, is_new: bool) -> WantedFile | None:
    """Return the file that an item contains, or None."""
    kind = str(item.data_format.get("data_type") or "").lower()
    is_known = kind in OPEN_TYPES or kind in IMAGE_TYPES or kind in data_types()
    if isinstance(item, FileReference):
        source = item.url
    else:
        source = item.content
        if kind in OPEN_TYPES or not (is_known or starts_like_base64(source)):
            return None
    kind = kind if is_known else kind[:MAX_KIND]
    unnamed = redact_url(source) if kind in OPEN_TYPES else f"without a name ({kind})"
    name = str(item.data_format.get("filename") or unnamed)[:MAX_NAME]
    file = FileRead(name=name, kind=kind)
    return WantedFile(key=(kind, origin, source), item=item, file=file, is_new=is_new)


def is_text_already(wanted: WantedFile) -> bool:
    """Return true if a file was sent as text, so that it needs no reading."""
    form = format_of(wanted.file.kind)
    if form is None or not form.is_text or isinstance(wanted.item, FileReference):
        return False
    return is_plain_text(wanted.item.content)
