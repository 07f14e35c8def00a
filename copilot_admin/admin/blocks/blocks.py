"""An answer as a sequence of blocks: text, steps, artifacts, citations and calls, in their order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Protocol
from uuid import UUID

from copilot_admin import models
from copilot_admin.admin.blocks.contents import ON_THE_PAGE, DataExcerpt, ShownRoom, content_of
from copilot_admin.admin.blocks.fields import (
    list_in,
    number_in,
    object_in,
    objects_in,
    text_in,
)
from copilot_admin.admin.blocks.files import file_line
from copilot_admin.admin.blocks.kinds import (
    Answered,
    ArtifactBlock,
    Block,
    CallBlock,
    CitationsBlock,
    ComponentBlock,
    DataBlock,
    FilesBlock,
    OtherBlock,
    ReasoningBlock,
    SeenData,
    Source,
    StepLine,
    StepsBlock,
    SuggestionsBlock,
    TextBlock,
    ToolBlock,
)
from copilot_admin.admin.blocks.results import results_of
from copilot_admin.agent.values.answer_request import CalledAfterData
from copilot_admin.models import EventType
from copilot_admin.rendering.charts import chart_of
from copilot_admin.rendering.tables import are_rows, table_of
from copilot_admin.rendering.text import cell_text
from copilot_admin.transcripts.queries import CallView, EventView, MessageView
from protocol.data import split_rendered
from protocol.json import Json, JsonObject
from protocol.plain_text import html_text

MOST_HTML = 200_000  # characters of an HTML artifact that are read for their text


class Said(Protocol):
    """What was put out: by a run, or by whatever else says things as a run does."""

    @property
    def id(self) -> UUID:
        """Sets its blocks apart on their page."""

    @property
    def answer(self) -> str:
        """All text of the answer."""

    @property
    def events(self) -> Sequence[EventView]:
        """Everything that is not text."""

    @property
    def call(self) -> CallView | None:
        """The client function call that it ended in."""


def blocks_of(
    run: Said, *, room: ShownRoom = ON_THE_PAGE, formatted: bool = True
) -> Iterator[Block]:
    """What a run put out, text and everything else in the order in which the user saw it."""
    said = 0
    for offset, events in groupby(_shown(run), key=lambda event: event.text_offset):
        yield from _text(run.answer[said:offset], formatted)
        said = offset
        yield from _events(run, list(events), room)
    yield from _text(run.answer[said:], formatted)
    if run.call is not None:
        yield _call(run, run.call, room)


def _shown(run: Said) -> list[EventView]:
    return sorted(
        (
            event
            for event in run.events
            if event.payload is not None and not (run.call is not None and _is_of_the_call(event))
        ),
        key=lambda event: (event.text_offset, event.ord),
    )


def _is_of_the_call(event: EventView) -> bool:
    return event.type == EventType.FUNCTION_CALL or _is_after_data(event)


def _is_after_data(event: EventView) -> bool:
    fact = text_in(event.payload or {}, "fact")
    return event.type == models.OTHER_EVENT and fact == CalledAfterData.__name__


def _text(text: str, formatted: bool) -> Iterator[TextBlock]:
    if text.strip():
        yield TextBlock(text, formatted)


def _events(run: Said, events: list[EventView], room: ShownRoom) -> Iterator[Block]:
    for kind, group in groupby(events, key=lambda event: event.type):
        if kind == EventType.STATUS:
            yield StepsBlock(tuple(_step(event, _key(run, event), room) for event in group))
        elif kind == EventType.FILE:
            yield FilesBlock(tuple(file_line(event.payload or {}) for event in group))
        elif kind == EventType.DATA:
            yield DataBlock(tuple(_seen(event, _key(run, event), room) for event in group))
        else:
            for event in group:
                yield from _block(event, _key(run, event), room)


def _key(run: Said, event: EventView) -> str:
    return f"r{run.id.hex}-{event.ord}"


def _block(event: EventView, key: str, room: ShownRoom) -> Iterator[Block]:
    payload = event.payload or {}
    match event.type:
        case EventType.ARTIFACT:
            yield _artifact(payload, key, room)
        case EventType.CITATION:
            number = len(objects_in(payload, "citations"))
            yield CitationsBlock(tuple(_sources(payload, key, room)), number)
        case EventType.TOOL:
            yield ToolBlock(
                key=key,
                name=text_in(payload, "name"),
                arguments=content_of(payload.get("arguments"), key=f"{key}-a", room=room),
                result=content_of(payload.get("result"), key=key, room=room),
            )
        case EventType.COMPONENT:
            yield _component(payload, key, room)
        case EventType.REASONING:
            yield ReasoningBlock(key=key, text=text_in(payload, "text"))
        case EventType.SUGGESTIONS:
            found = list_in(payload, "suggestions")[: room.pieces]
            yield SuggestionsBlock(tuple(one for one in found if isinstance(one, str)))
        case models.OTHER_EVENT:
            yield OtherBlock(
                key=key,
                type=text_in(payload, "event") or text_in(payload, "fact"),
                content=content_of(payload.get("data"), key=key, room=room),
            )
        case other:
            yield OtherBlock(key=key, type=other, content=content_of(payload, key=key, room=room))


def _seen(event: EventView, key: str, room: ShownRoom) -> SeenData:
    kind, instance, rest = split_rendered(text_in(event.payload or {}, "text"))
    content = content_of(rest, key=key, room=room)
    return SeenData(key=key, kind=kind, instance=instance, content=content)


def _component(payload: JsonObject, key: str, room: ShownRoom) -> ComponentBlock:
    def content(name: str) -> DataExcerpt:
        return content_of(payload.get(name), key=f"{key}-{name}", room=room)

    return ComponentBlock(
        key=key,
        name=text_in(payload, "name"),
        version=text_in(payload, "version"),
        arguments=content("arguments"),
        result=content("result"),
        error=text_in(payload, "error"),
        outputs=number_in(payload, "outputs"),
        ms=number_in(payload, "ms"),
        usage=content("usage"),
        metrics=content("metrics"),
    )


def _step(event: EventView, key: str, room: ShownRoom) -> StepLine:
    payload = event.payload or {}
    details = [
        content_of(detail, key=f"{key}-d{index}", room=room)
        for index, detail in enumerate(_joined_rows(list_in(payload, "details"))[: room.pieces])
    ]
    artifacts = [
        content_of(artifact.get("content"), key=f"{key}-f{index}", room=room)
        for index, artifact in enumerate(objects_in(payload, "artifacts")[: room.pieces])
    ]
    return StepLine(
        message=text_in(payload, "message"),
        is_warning=text_in(payload, "eventType") != "INFO",
        hidden=payload.get("hidden") is True,
        details=tuple(one for one in (*details, *artifacts) if not one.is_empty),
    )


def _joined_rows(details: Sequence[Json]) -> Sequence[Json]:
    return [details] if are_rows(details) else details


def _artifact(payload: JsonObject, key: str, room: ShownRoom) -> ArtifactBlock:
    raw, kind = payload.get("content"), text_in(payload, "type")
    chart, source = None, ""
    content = content_of(raw, key=key, room=room)
    if kind == "chart" and are_rows(raw):
        chart = chart_of(object_in(payload, "chart_params"), raw)
        if chart is not None:
            columns = tuple(dict.fromkeys(chart.drawn_columns))
            table = table_of(
                raw,
                most_rows=room.rows,
                most_cell=room.cell,
                columns=columns,
                first=room.first,
            )
            content = DataExcerpt(key=key, table=table, is_cut=table.is_cut)
    elif kind == "html" and isinstance(raw, str):
        source = raw[: room.text]
        text = html_text(raw[:MOST_HTML])
        content = DataExcerpt(key=key, text=text[: room.text], is_cut=len(raw) > room.text)
    return ArtifactBlock(
        key=key,
        type=kind,
        name=text_in(payload, "name"),
        description=text_in(payload, "description"),
        content=content,
        chart=chart,
        source=source,
    )


def _sources(payload: JsonObject, key: str, room: ShownRoom) -> Iterator[Source]:
    for index, citation in enumerate(objects_in(payload, "citations")[: room.pieces]):
        info = object_in(citation, "source_info")
        arguments = object_in(object_in(info, "metadata"), "input_args")
        place = " / ".join(filter(None, (text_in(info, "origin"), text_in(info, "widget_id"))))
        details = list_in(citation, "details")
        yield Source(
            name=text_in(info, "name") or place or text_in(info, "type"),
            place=place,
            arguments=tuple(islice(_pairs(arguments), room.pieces)),
            details=content_of(list(details), key=f"{key}-c{index}", room=room),
        )


def _pairs(arguments: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in arguments.items():
        yield name, cell_text(value)


def _call(run: Said, call: CallView, room: ShownRoom) -> CallBlock:
    return CallBlock(
        key=f"r{run.id.hex}-call",
        call=call,
        arguments=content_of(call.arguments, key=f"r{run.id.hex}-call", room=room),
        results=tuple(some_answered(call.results, room=room)),
        after_data=any(map(_is_after_data, run.events)),
    )


def some_answered(messages: Iterable[MessageView], *, room: ShownRoom) -> Iterator[Answered]:
    """Function results, source by source, until there is no room for more pieces."""
    left = room.pieces
    for message in messages:
        if left <= 0:
            return
        # One more than is shown tells whether there is more.
        wider = replace(room, pieces=left + 1)
        sources = tuple(results_of(message, room=wider))
        yield Answered(message=message, sources=sources[:left], goes_on=len(sources) > left)
        left -= len(sources) + 1  # a message has a frame of its own
