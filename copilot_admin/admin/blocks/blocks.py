"""An answer as a sequence of blocks: text, steps, artifacts, citations and calls, in their order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin import models
from copilot_admin.admin.blocks.kinds import (
    PAGE_LIMITS,
    ArtifactBlock,
    Block,
    CallBlock,
    CallResult,
    CitationsBlock,
    DataExcerpt,
    DisplayLimits,
    FileLine,
    FilesBlock,
    FoldBlock,
    Section,
    Source,
    SourceResult,
    StepLine,
    StepsBlock,
    SuggestionsBlock,
    TextBlock,
    build_excerpt,
)
from copilot_admin.agent.documents.registry import format_of
from copilot_admin.agent.values.answer_request import CalledAfterData
from copilot_admin.models import Event, EventType, Node
from copilot_admin.rendering.charts import draw_chart
from copilot_admin.rendering.tables import are_rows, build_table
from copilot_admin.rendering.text import cell_text, duration
from copilot_admin.transcripts.queries.reading import CallView, RunView
from protocol.data import split_rendered
from protocol.json import Json, JsonObject, integer_of, list_of, object_of, objects_of, text_of
from protocol.serializers import html_text

MAX_HTML = 200_000  # characters of an HTML artifact that are read for their text


def build_blocks(
    run: RunView, *, limits: DisplayLimits = PAGE_LIMITS, formatted: bool = True
) -> Iterator[Block]:
    """Yield text and everything else in the order in which the user saw it."""
    start = 0
    for offset, events in groupby(_visible_events(run), key=lambda event: event.text_offset):
        yield from _text(run.answer[start:offset], formatted)
        start = offset
        yield from _build_events(run, list(events), limits)
    yield from _text(run.answer[start:], formatted)
    if run.call is not None:
        yield _call(run, run.call, limits)


def _visible_events(run: RunView) -> list[Event]:
    shown = [
        event
        for event in run.events
        if event.payload is not None
        and not (run.call and (event.type == EventType.FUNCTION_CALL or _is_after_data(event)))
    ]
    return sorted(shown, key=lambda event: (event.text_offset, event.ord))


def _is_after_data(event: Event) -> bool:
    fact = text_of((event.payload or {}).get("fact"))
    return event.type == models.OTHER_EVENT and fact == CalledAfterData.__name__


def _text(text: str, formatted: bool) -> Iterator[TextBlock]:
    if text.strip():
        yield TextBlock(text, formatted)


def _build_events(run: RunView, events: list[Event], limits: DisplayLimits) -> Iterator[Block]:
    for kind, grouped in groupby(events, key=lambda event: event.type):
        group = [(f"r{run.id.hex}-{event.ord}", event.payload or {}) for event in grouped]
        if kind == EventType.STATUS:
            yield StepsBlock(tuple(_step(payload, key, limits) for key, payload in group))
        elif kind == EventType.FILE:
            yield FilesBlock(tuple(build_file_line(payload) for _key, payload in group))
        elif kind == EventType.DATA:
            yield _data(group, limits)
        else:
            for key, payload in group:
                yield _build_event(kind, payload, key, limits)


def _build_event(kind: str, payload: JsonObject, key: str, limits: DisplayLimits) -> Block:
    match kind:
        case EventType.ARTIFACT:
            return _artifact(payload, key, limits)
        case EventType.CITATION:
            number = len(objects_of(payload.get("citations")))
            return CitationsBlock(tuple(_sources(payload, key, limits)), number)
        case EventType.TOOL:
            values = {_("Arguments"): payload.get("arguments"), _("Result"): payload.get("result")}
            name = text_of(payload.get("name"))
            return _fold(key, "tool", values, limits, title=_("Tool:"), name=name)
        case EventType.COMPONENT:
            return _component(payload, key, limits)
        case EventType.REASONING:
            content = DataExcerpt(key=key, text=text_of(payload.get("text")))
            sections = (Section(label="", content=content),)
            return FoldBlock(key=key, icon="bulb", title=_("Reasoning"), sections=sections)
        case EventType.SUGGESTIONS:
            found = list_of(payload.get("suggestions"))[: limits.pieces]
            return SuggestionsBlock(tuple(one for one in found if isinstance(one, str)))
        case models.OTHER_EVENT:
            name = text_of(payload.get("event")) or text_of(payload.get("fact"))
            return _fold(key, "code", {"": payload.get("data")}, limits, name=name)
    return _fold(key, "code", {"": payload}, limits, name=kind)


def _fold(
    key: str, icon: str, values: Mapping[str, Json], limits: DisplayLimits, **more: Any
) -> FoldBlock:
    """Fold a section for each value; the first two are shown if empty, too."""
    sections = [
        Section(label=label, content=build_excerpt(value, key=f"{key}-{place}", limits=limits))
        for place, (label, value) in enumerate(values.items())
    ]
    shown = [*sections[:2], *(one for one in sections[2:] if not one.content.is_empty)]
    return FoldBlock(key=key, icon=icon, sections=tuple(shown), **more)


def _data(group: Sequence[tuple[str, JsonObject]], limits: DisplayLimits) -> FoldBlock:
    sections, kinds = [], Counter[str]()
    for key, payload in group:
        kind, instance, rest = split_rendered(text_of(payload.get("text")))
        kinds[f"¶{kind}"] += 1
        content = build_excerpt(rest, key=key, limits=limits)
        sections.append(Section(label=f"¶{kind} {instance}".rstrip(), content=content))
    title = ngettext("%(count)d data message", "%(count)d data messages", len(group))
    return FoldBlock(
        key=group[0][0],
        icon="layers",
        title=title % {"count": len(group)},
        facts=tuple(f"{name} ({n})" if n > 1 else name for name, n in kinds.items()),
        sections=tuple(sections),
    )


def _component(payload: JsonObject, key: str, limits: DisplayLimits) -> FoldBlock:
    values = {
        _("Arguments"): payload.get("arguments"),
        _("Result for the model"): payload.get("result"),
        _("Tokens"): payload.get("usage"),
        _("Metrics"): payload.get("metrics"),
    }
    outputs, ms = integer_of(payload.get("outputs")) or 0, integer_of(payload.get("ms")) or 0
    facts = (
        duration(ms),
        ngettext("%(count)d output", "%(count)d outputs", outputs) % {"count": outputs},
    )
    name = f"{text_of(payload.get('name'))} {text_of(payload.get('version'))}".strip()
    error = text_of(payload.get("error"))
    return _fold(key, "tool", values, limits, title=_("Tool:"), name=name, facts=facts, error=error)


def _step(payload: JsonObject, key: str, limits: DisplayLimits) -> StepLine:
    raw = list_of(payload.get("details"))
    details = [raw] if are_rows(raw) else raw
    artifacts = objects_of(payload.get("artifacts"))
    values: list[tuple[str, Json]] = [
        *((f"d{place}", one) for place, one in enumerate(details[: limits.pieces])),
        *(
            (f"f{place}", one.get("content"))
            for place, one in enumerate(artifacts[: limits.pieces])
        ),
    ]
    excerpts = (build_excerpt(one, key=f"{key}-{part}", limits=limits) for part, one in values)
    return StepLine(
        message=text_of(payload.get("message")),
        is_warning=payload.get("eventType") != "INFO",
        hidden=payload.get("hidden") is True,
        details=tuple(one for one in excerpts if not one.is_empty),
    )


def _artifact(payload: JsonObject, key: str, limits: DisplayLimits) -> ArtifactBlock:
    raw, kind = payload.get("content"), text_of(payload.get("type"))
    chart, source = None, ""
    content = build_excerpt(raw, key=key, limits=limits)
    if kind == "chart" and are_rows(raw):
        chart = draw_chart(object_of(payload.get("chart_params")), raw)
        if chart is not None:
            table = build_table(
                raw,
                most_rows=limits.rows,
                most_cell=limits.cell,
                columns=tuple(dict.fromkeys(chart.drawn_columns)),
                first=limits.first,
            )
            content = DataExcerpt(key=key, table=table, is_cut=table.is_cut)
    elif kind == "html" and isinstance(raw, str):
        source = raw[: limits.text]
        text = html_text(raw[:MAX_HTML])[: limits.text]
        content = DataExcerpt(key=key, text=text, is_cut=len(raw) > limits.text)
    return ArtifactBlock(
        key=key,
        type=kind,
        name=text_of(payload.get("name")),
        description=text_of(payload.get("description")),
        content=content,
        chart=chart,
        source=source,
    )


def _sources(payload: JsonObject, key: str, limits: DisplayLimits) -> Iterator[Source]:
    for index, citation in enumerate(objects_of(payload.get("citations"))[: limits.pieces]):
        info = object_of(citation.get("source_info"))
        arguments = object_of(object_of(info.get("metadata")).get("input_args"))
        parts = (text_of(info.get("origin")), text_of(info.get("widget_id")))
        place, part = " / ".join(filter(None, parts)), f"{key}-c{index}"
        shown = islice(arguments.items(), limits.pieces)
        yield Source(
            key=part,
            name=text_of(info.get("name")) or place or text_of(info.get("type")),
            place=place,
            arguments=tuple((name, cell_text(value)) for name, value in shown),
            details=build_excerpt(list(list_of(citation.get("details"))), key=part, limits=limits),
        )


def _call(run: RunView, call: CallView, limits: DisplayLimits) -> CallBlock:
    key = f"r{run.id.hex}-call"
    return CallBlock(
        key=key,
        call=call,
        arguments=build_excerpt(call.arguments, key=key, limits=limits),
        results=tuple(build_results(call.results, limits=limits)),
        after_data=any(map(_is_after_data, run.events)),
    )


def build_results(messages: Iterable[Node], *, limits: DisplayLimits) -> Iterator[CallResult]:
    """Yield function results until the limit of pieces is reached."""
    left = limits.pieces
    for message in messages:
        if left <= 0:
            return
        # One row more than the page has: it reveals a further page.
        wider = replace(limits, pieces=left + 1)
        sources = tuple(islice(_read_sources(message, wider), wider.pieces))
        yield CallResult(message=message, sources=sources[:left], goes_on=len(sources) > left)
        left -= len(sources) + 1  # a message has a frame of its own


def _read_sources(message: Node, limits: DisplayLimits) -> Iterator[SourceResult]:
    data = message.data or {}
    asked = objects_of(object_of(data.get("input_arguments")).get("data_sources"))
    for index, raw in enumerate(list_of(data.get("data"))):
        name = _source_name(asked[index]) if index < len(asked) else ""
        yield from _read_source(object_of(raw), name, f"n{message.pk}-{index}", limits)


def _read_source(
    raw: JsonObject, name: str, key: str, limits: DisplayLimits
) -> Iterator[SourceResult]:
    if "error_type" in raw:
        error = text_of(raw.get("content"))
        yield SourceResult(name=name, error_type=text_of(raw["error_type"]), error=error)
    elif "status" in raw:
        yield SourceResult(
            name=name,
            status=text_of(raw["status"]),
            message=text_of(raw.get("message")),
            content=build_excerpt(_command_data(raw), key=key, limits=limits),
        )
    else:
        for index, item in enumerate(objects_of(raw.get("items"))):
            filename = text_of(object_of(item.get("data_format")).get("filename")) or name
            if "url" in item:
                yield SourceResult(name=filename, file=text_of(item["url"]))
                continue
            content = build_excerpt(item.get("content"), key=f"{key}-{index}", limits=limits)
            yield SourceResult(name=filename, content=content)


def _command_data(raw: JsonObject) -> Json:
    more = {name: value for name, value in raw.items() if name not in ("status", "message")}
    return more if more.keys() - {"data"} else raw.get("data")


def _source_name(source: JsonObject) -> str:
    parts = (text_of(source.get("origin")), text_of(source.get("id")))
    return " / ".join(filter(None, parts)) or text_of(source.get("widget_uuid"))


def build_file_line(payload: JsonObject) -> FileLine:
    name, note, fault = (text_of(payload.get(key)) for key in ("name", "note", "fault"))
    return FileLine(name=name, facts=tuple(_describe_file(payload)), note=note, fault=fault)


def _describe_file(payload: JsonObject) -> Iterator[str]:
    kind = text_of(payload.get("type"))
    if kind:
        yield kind.upper()
    numbers = map(integer_of, list_of(payload.get("pixels")))
    pixels = [number for number in numbers if number is not None]
    if len(pixels) == 2:
        yield _("%(width)d x %(height)d pixels") % {"width": pixels[0], "height": pixels[1]}
    pages = integer_of(payload.get("pages"))
    if pages is not None:
        form = format_of(kind)
        word = form.page_word if form else ""
        if word == "sheet":
            yield ngettext("%(count)d sheet", "%(count)d sheets", pages) % {"count": pages}
        elif word or pages > 1:
            yield ngettext("%(count)d page", "%(count)d pages", pages) % {"count": pages}
    size = integer_of(payload.get("size"))
    if size is not None:
        yield filesizeformat(size)
