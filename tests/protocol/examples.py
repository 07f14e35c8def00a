"""Events of every kind and of any class; run as a module, it writes the golden files of them."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
import json
from pathlib import Path
import re
from types import UnionType
from typing import Any, get_args, get_origin

from protocol import events
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    Event,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusLevel,
    StatusUpdate,
)
from protocol.models import Generation
from protocol.serializers import serialize
from protocol.sse import encode

WIDGET_UUID = "91ae1153-7b4d-451c-adc5-49856e90a0e6"
ARTIFACT_UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
CITATION_ID = "8b2e5f79-3a1d-4c9e-b6f8-1e7d2a9c0b3d"
ROWS: list[Any] = [
    {"date": "2024-10-15", "close": 233.85, "note": "a | b"},
    {"date": "2024-10-14", "close": None, "split": True},
]


def _artifact(kind: ArtifactType, name: str, about: str, content: Any, **more: Any) -> Event:
    more |= {"uuid": ARTIFACT_UUID, "artifact_name": name, "description": about}
    return MessageArtifact(type=kind, content=content, **more)


def _chart(kind: str, params: dict) -> Event:
    params = {"chartType": kind, **params}
    return _artifact(ArtifactType.CHART, "prices-1", "Closing prices", ROWS, chart_params=params)


PRICE = {"widget_uuid": WIDGET_UUID, "origin": "OpenBB API", "id": "stock_price",
         "input_args": {"symbol": "TSLA", "limit": None}}  # fmt: skip
FILE: Any = {"widget_uuid": None, "origin": "OpenBB Hub", "id": "file-1", "input_args": {}}
SEARCH = {"query": "x", "page": None}
CARD = "<style>p{color:red}</style><p>Apple &amp; <b>Tesla</b></p><p>rose.</p>"
SNOWFLAKE = {"origin": "Snowflake", "id": "q", "widget_uuid": WIDGET_UUID}
QUOTE = {"text": "rose", "page": 3, "x0": 1.0, "top": 2.0, "x1": 3.0, "bottom": 4.0}
STOCK = {"type": "widget", "uuid": WIDGET_UUID, "origin": "OpenBB API", "widget_id": "stock_price",
         "name": "Stock Price", "description": None,
         "metadata": {"input_args": {"symbol": "TSLA"}}}  # fmt: skip
TABLE: Any = _artifact(ArtifactType.TABLE, "prices-1", "Closing prices", ROWS)
EXAMPLES: dict[str, Event] = {
    "chunk": MessageChunk('Grüße, "世界"\n\u2028€ 3'),
    "call": FunctionCall(
        function="get_widget_data",
        input_arguments={"data_sources": [PRICE]},
        extra_state={"copilot_function_call_arguments": {"widget_queries": [WIDGET_UUID]}},
    ),
    "call-without-uuid": FunctionCall(
        function="get_widget_data",
        input_arguments={"data_sources": [FILE]},
        extra_state={"state": "signed"},
    ),
    "call-of-a-tool": FunctionCall(
        function="execute_agent_tool",
        input_arguments={"server_id": "s", "tool_name": "search", "parameters": SEARCH},
        extra_state={"state": "signed", "none": None},
    ),
    "status": StatusUpdate(
        message="Reading the news",
        details=(
            {"ticker": "AAPL", "lastUpdated": 1, "Source": "x", "id": "x", "missing": None},
            "two pages",
        ),
        artifacts=(TABLE,),
    ),
    "status-warning": StatusUpdate(message="The widget did not answer.", level=StatusLevel.WARNING),
    "status-hidden": StatusUpdate(message="Thinking", hidden=True),
    "text": _artifact(ArtifactType.TEXT, "memo-1", "A memo", "# Memo"),
    "table": TABLE,
    "chart-line": _chart("line", {"xKey": "date", "yKey": ["close"]}),
    "chart-pie": _chart("pie", {"angleKey": "close", "calloutLabelKey": "date"}),
    "html": _artifact(ArtifactType.HTML, "card-1", "A card", CARD),
    "snowflake-query": _artifact(
        ArtifactType.SNOWFLAKE_QUERY, "query-1", "A query", "select 1", query_data_source=SNOWFLAKE
    ),
    "snowflake-python": _artifact(ArtifactType.SNOWFLAKE_PYTHON, "code-1", "Some code", "print(1)"),
    "citations": CitationCollection(
        (
            Citation(
                id=CITATION_ID,
                source_info=STOCK,
                details=({"Page": 3},),
                quote_bounding_boxes=((QUOTE,),),
            ),
            Citation(id=ARTIFACT_UUID, source_info={"type": "web", "name": "Stock Price"}),
            Citation(id=ARTIFACT_UUID, source_info={"type": "web", "origin": "example.com"}),
        )
    ),
    "citations-none": CitationCollection(()),
    "suggestions": PromptSuggestions(("What moved today?", "And Tesla?")),
}


EVENT_CLASSES: tuple[type[Event], ...] = tuple(
    value
    for value in vars(events).values()
    if isinstance(value, type) and issubclass(value, Event) and value is not Event
)


def example_of(kind: Any, *, whole: bool) -> Any:
    """An event with something in every field, or only in those that it cannot do without."""
    needed = [one for one in fields(kind) if whole or one.default is one.default_factory is MISSING]
    return kind(**{one.name: _value(one.type) for one in needed})


def _value(kind: Any) -> Any:
    """Something of a type that a field of an event may have."""
    if isinstance(kind, str):
        kind = vars(events)[kind]
    if isinstance(kind, UnionType):
        return _value(get_args(kind)[0])
    if get_origin(kind) is tuple:
        return (_value(get_args(kind)[0]),)
    if get_origin(kind) is Mapping and is_dataclass(get_args(kind)[1]):
        return {"given": _value(get_args(kind)[1])}  # nobody says it, and so its author is told
    if is_dataclass(kind):
        return example_of(kind, whole=True)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    return kind(1) if kind in (str, int, bool, float) else {"given": {"number": 1}}


EVENTS = Path(__file__).parent.parent / "golden" / "events"


def said(name: str, generation: Generation) -> bytes:
    """The bytes that a client of a generation receives for an example."""
    return b"".join(encode(*event) for event in serialize(EXAMPLES[name], generation))


def golden(name: str, generation: Generation) -> Path:
    """Where the bytes of an example are kept."""
    return EVENTS / f"{name}.{generation.value}.sse"


if __name__ == "__main__":
    for name in EXAMPLES:
        for generation in Generation:
            golden(name, generation).write_bytes(said(name, generation))


_BLOCK_END = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"(?P<field>[^:]+)(?:: ?(?P<value>[^\n\r\u2028\u2029]*))?")


class AnswerEnds(Exception):
    """Workspace shows an error bubble in place of the rest."""


def as_workspace_reads(stream: bytes) -> list[tuple[str, Any]]:
    """Return the events by the rules of Workspace, to test what it would show.

    The buffer is split on blank lines, the last unterminated block is thrown away, comment lines
    are ignored, several data lines are joined, data that is not JSON ends the answer. A JavaScript
    `.` stops at U+2028 and U+2029.
    """
    blocks = _BLOCK_END.split(stream.decode())[:-1]
    return [event for block in blocks if (event := _event(block))]


def _event(block: str) -> tuple[str, Any] | None:
    name, data = "", []
    for line in _LINE_END.split(block):
        if line.startswith(":"):
            continue
        match = _LINE.match(line)
        if match and match["field"] == "event":
            name = match["value"]
        if match and match["field"] == "data":
            data.append(match["value"])
    if not data:
        return None
    try:
        return name, json.loads("\n".join(data))
    except ValueError as error:
        raise AnswerEnds(block) from error
