"""Which files a copilot reads: those of the features that are switched on."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest

from copilot_admin.agent.values.records import FEATURE
from copilot_admin.agent.values.spec import CitationMode, CopilotSpec, WidgetDataMode
from protocol.functions import (
    WIDGET_DATA_FUNCTIONS,
    DataSource,
    data_sources,
)
from protocol.models import ContextItem, Generation, Query, ResultMessage, SourceResult, is_upload

LINK = "link"  # the `data_type` of an address in a question; no client has such a one
_EXECUTE_TOOL = "execute_agent_tool"


class Origin(Enum):
    """Where a file comes from; the value says why a copilot does not read it."""

    UPLOAD = "This copilot takes no attached files."
    WIDGET = "This copilot does not read widgets."
    TOOL = "This copilot uses no tools of MCP servers."
    LINK = "This copilot reads no links."
    CONTEXT = "This copilot reads neither attached files nor widgets."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """What is read of the files that come with a question.

    Attributes:
        sees_images: The model can look at images; else it is told of them in words.
        origins: Of the files that are read at all.
        places: The places of words are needed, to mark what is quoted.
    """

    sees_images: bool = False
    origins: frozenset[Origin] = frozenset(Origin)
    places: bool = True


EVERYTHING = FileRules()


def file_rules(spec: CopilotSpec) -> FileRules:
    """What a copilot's switches say about files."""
    uploads, widgets = spec.has(FEATURE), spec.widget_data is not WidgetDataMode.OFF
    read = (
        (Origin.UPLOAD, uploads),
        (Origin.WIDGET, widgets),
        (Origin.TOOL, spec.has("mcp-tools")),
        (Origin.LINK, spec.read_links),
        (Origin.CONTEXT, uploads or widgets),
    )
    return FileRules(
        sees_images=spec.sees_images,
        origins=frozenset(origin for origin, is_read in read if is_read),
        places=spec.citations is CitationMode.DOCUMENTS,
    )


def origin_of(item: ContextItem, *, query: Query) -> Origin:
    """Where what is sent along comes from; generation 1 sends the data of widgets there."""
    if any(one.data_format.get("data_type") == LINK for one in item.data.items):
        return Origin.LINK
    is_widget = query.generation is Generation.ONE and bool(item.uuid)
    return Origin.WIDGET if is_widget else Origin.CONTEXT


def origins_in(message: ResultMessage) -> Iterator[tuple[SourceResult, Origin]]:
    """Each element of a result, and where it comes from."""
    if message.function not in WIDGET_DATA_FUNCTIONS:
        is_tool = message.function == _EXECUTE_TOOL
        yield from ((one, Origin.TOOL if is_tool else Origin.CONTEXT) for one in message.data)
        return
    nameless = DataSource()
    for source, result in zip_longest(data_sources(message.input_arguments), message.data):
        if result is not None:
            asked = source or nameless
            uploaded = is_upload(origin=asked.origin, id=asked.id)
            yield result, Origin.UPLOAD if uploaded else Origin.WIDGET
