"""Results of client function calls, source by source, and the files that a run read."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.blocks.contents import DisplayLimits, build_excerpt
from copilot_admin.admin.blocks.kinds import CallResult, FileLine, SourceResult
from copilot_admin.agent.documents.document import PageNoun
from copilot_admin.agent.documents.registry import format_of
from copilot_admin.models import Node
from protocol.json import Json, JsonObject, integer_of, list_of, object_of, objects_of, text_of


def build_results(messages: Iterable[Node], *, limits: DisplayLimits) -> Iterator[CallResult]:
    """Yield function results until the limit of pieces is reached."""
    left = limits.pieces
    for message in messages:
        if left <= 0:
            return
        # One more than is shown tells whether there is more.
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
    about = {name: value for name, value in raw.items() if name not in ("status", "message")}
    return about if about.keys() - {"data"} else raw.get("data")


def _source_name(source: JsonObject) -> str:
    parts = (text_of(source.get("origin")), text_of(source.get("id")))
    return " / ".join(filter(None, parts)) or text_of(source.get("widget_uuid"))


def build_file_line(payload: JsonObject) -> FileLine:
    """Describe a file; the stored payload may have any shape."""
    return FileLine(
        name=text_of(payload.get("name")),
        facts=tuple(_describe_file(payload)),
        note=text_of(payload.get("note")),
        fault=text_of(payload.get("fault")),
    )


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
        word = PageNoun.NONE if form is None else form.page_word
        if word is PageNoun.SHEET:
            yield ngettext("%(count)d sheet", "%(count)d sheets", pages) % {"count": pages}
        elif word is PageNoun.PAGE or pages > 1:
            yield ngettext("%(count)d page", "%(count)d pages", pages) % {"count": pages}
    size = integer_of(payload.get("size"))
    if size is not None:
        yield filesizeformat(size)
