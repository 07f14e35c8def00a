"""Says in a client's events what a component gives its user.

Source: the table "components as server-side tools" of this project's specification. Words for the
user alone stream as part of the answer; what the model repeats anyway is a step; tables and charts
are artifacts; references and links are cited after the answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
import json
from typing import Any
from uuid import UUID, uuid5

from copilot_admin.agent.component_runs.text import (
    axes,
    detail_key,
    fenced,
    is_address,
    link,
    parsed,
    plain,
    rows,
    short,
)
from copilot_admin.agent.toolkits.texts import cut
from copilot_admin.agent.tools.artifacts import ROUND, ChartType, chart_params
from copilot_admin.agent.tools.html import clean_html
from protocol.components import (
    PAYLOADS,
    ComponentOutput,
    Content,
    ContentType,
    VisibleScope,
    for_user,
    merge,
)
from protocol.events import (
    ArtifactType,
    Citation,
    Event,
    MessageArtifact,
    MessageChunk,
    StatusUpdate,
)
from protocol.json import JsonObject

LARGEST_IMAGE = 500_000  # characters of base64 in an event
MOST_DETAILS = 50  # of one step, which is to be glanced at
_NO_REFERENCE = PAYLOADS[ContentType.REFERENCES].model().model_dump()
_LATER = frozenset(  # their pieces are one thing, said when the component has ended
    {ContentType.TEXT, ContentType.CODE, ContentType.THOUGHT, ContentType.PLAN}
)


class ComponentEvents:
    """What the outputs of one call mean to a client.

    Args:
        title: What the component is called in steps.
        description: Of its artifacts.
        id: A uuid for what the call makes.
        stream_all_text: Text for model and user streams as part of the answer.
        show_steps: Whether the copilot shows steps.
    """

    def __init__(
        self, *, title: str, description: str, id: UUID, stream_all_text: bool, show_steps: bool
    ) -> None:
        self.citations: dict[tuple[str, str], Citation] = {}
        self._title = title
        self._description = description
        self._id = id
        self._stream_all_text = stream_all_text
        self._show_steps = show_steps
        self._made = 0
        self._kept: list[ComponentOutput] = []
        self._chunks = ""  # the end of what was streamed

    def begin(self, arguments: JsonObject) -> Iterator[Event]:
        """The step that says that the component runs, and with what."""
        some = islice(arguments.items(), MOST_DETAILS)
        yield from self._step(f"Running {self._title}", {key: short(value) for key, value in some})

    def take(self, output: ComponentOutput) -> Iterator[Event]:
        """Turns one output into what the client sees of it at once."""
        for content in output.content:
            if content.type is ContentType.TEXT and self._streams(content):
                yield from self._chunk(str(content.text.model_dump()["info"]))
            elif content.type in _LATER:
                self._kept.append(ComponentOutput(role=output.role, content=(content,)))
            elif content.visible_scope is not VisibleScope.LLM:
                yield from self._said(content)

    def end(self) -> Iterator[Event]:
        """What could only be said now that all of it has come."""
        for content in merge(self._kept).content:
            yield from self._said_whole(content)
        if self._chunks and not self._chunks.endswith("\n\n"):
            yield from self._chunk("\n\n")

    def _streams(self, content: Content) -> bool:
        for_everybody = content.visible_scope is VisibleScope.ALL and self._stream_all_text
        return content.visible_scope is VisibleScope.USER or for_everybody

    def _said_whole(self, content: Content) -> Iterator[Event]:
        payload = content.text.model_dump()
        match content.type:
            case ContentType.TEXT:
                heading = content.name or "Result"
                yield from self._step(f"{self._title} gave a result", {heading: payload["info"]})
            case ContentType.CODE if content.visible_scope is VisibleScope.USER:
                yield from self._chunk(fenced(payload["code"]))
            case ContentType.CODE if content.visible_scope is VisibleScope.ALL:
                yield self._artifact(ArtifactType.TEXT, content, fenced(payload["code"]))
            case ContentType.THOUGHT if for_user([content]):
                yield from self._step(f"{self._title} thinks", {"Thought": payload["info"]})
            case ContentType.PLAN if for_user([content]):
                yield from self._step(f"{self._title} has a plan", payload)
            case _:
                pass

    def _said(self, content: Content) -> Iterator[Event]:
        payload = content.text.model_dump()
        match content.type:
            case ContentType.JSON:
                yield self._json(content, payload["data"])
            case ContentType.CHART:
                yield self._chart(content, payload)
            case ContentType.IMAGE:
                yield from self._image(content, payload)
            case ContentType.REFERENCES:
                self._cite(payload)
            case ContentType.URLS if is_address(payload["url"]):
                self._cite({**_NO_REFERENCE, "title": payload["url"], "url": payload["url"]})
            case ContentType.FILES | ContentType.URLS | ContentType.AUDIO:
                name = payload.get("filename") or payload["url"]
                yield from self._chunk(link(name, payload["url"]))
            case _:
                yield from self._told(content.type, payload)

    def _told(self, type: ContentType, payload: Mapping[str, Any]) -> Iterator[Event]:
        match type:
            case ContentType.PROGRESS:
                yield from self._progress(payload)
            case ContentType.FUNCTION_CALL:
                yield from self._step(f"{self._title} calls {payload['name']}", payload)
            case ContentType.BROWSER:
                yield from self._step(f"{self._title} uses a browser", {"Query": payload["query"]})
            case _:
                pass

    def _step(self, message: str, details: Mapping[str, Any]) -> Iterator[Event]:
        if self._show_steps:
            some = islice(details.items(), MOST_DETAILS)
            shown = {detail_key(cut(key)): short(value) for key, value in some if value}
            yield StatusUpdate(message=short(message), details=(shown,) if shown else ())

    def _progress(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        words = payload["message"] or payload["step"] or self._title
        percent = round(min(max(payload["progress"], 0.0), 1.0) * 100)
        yield from self._step(f"{words} ({percent} %)", {})

    def _chunk(self, text: str) -> Iterator[Event]:
        if text:
            self._chunks = (self._chunks + text)[-2:]
            yield MessageChunk(text)

    def _json(self, content: Content, text: str) -> Event:
        value = parsed(text)
        table = rows(value)
        if table:
            return self._artifact(ArtifactType.TABLE, content, table)
        pretty = text if value is None else json.dumps(value, indent=2, ensure_ascii=False)
        return self._artifact(ArtifactType.TEXT, content, fenced(pretty, "json"))

    def _chart(self, content: Content, payload: Mapping[str, Any]) -> Event:
        value = parsed(payload["data"])
        about = value if isinstance(value, Mapping) else {"rows": value}
        table = rows(about.get("rows"))
        if not table:
            return self._artifact(ArtifactType.TEXT, content, fenced(payload["data"], "json"))
        x, y = axes(table, about)
        kind = str(payload["type"])
        if kind not in tuple(ChartType) or not y:
            return self._artifact(ArtifactType.TABLE, content, table)
        form = ChartType(kind)
        drawn = chart_params(form, x=x, y=y[:1] if form in ROUND else y)
        return self._artifact(ArtifactType.CHART, content, table, chart_params=drawn)

    def _image(self, content: Content, payload: Mapping[str, Any]) -> Iterator[Event]:
        name, url, data = payload["filename"], payload["url"], payload["base64"] or ""
        if url:
            yield from self._chunk(link(name or "Image", url, image=True))
        elif data and len(data) <= LARGEST_IMAGE:
            kind = str(payload["mime_type"] or "jpeg").removeprefix("image/")
            source = f"data:image/{escape(kind)};base64,{escape(data)}"
            html = f'<img src="{source}" alt="{escape(name)}">'
            yield self._artifact(ArtifactType.HTML, content, clean_html(html))
        elif data:
            yield from self._chunk(f"{plain(name or 'An image')} is too large to be shown.\n\n")

    def _artifact(
        self,
        type: ArtifactType,
        content: Content,
        value: str | Sequence[JsonObject],
        *,
        chart_params: JsonObject | None = None,
    ) -> MessageArtifact:
        self._made += 1
        id = uuid5(self._id, f"artifact {self._made}")
        return MessageArtifact(
            type=type,
            uuid=str(id),
            artifact_name=content.name.strip() or self._title,
            description=self._description,
            content=value,
            chart_params=chart_params,
        )

    def _cite(self, payload: Mapping[str, Any]) -> None:
        key = reference_key(payload)
        is_empty = not any((*key, payload["source"], payload["content"]))
        if key not in self.citations and not is_empty:
            id = uuid5(self._id, f"citation {len(self.citations) + 1}")
            self.citations[key] = _citation(payload, id=id)


def reference_key(payload: Mapping[str, Any]) -> tuple[str, str]:
    """What makes two references the same one."""
    return payload["url"] or payload["doc_id"], payload["title"]


def _citation(payload: Mapping[str, Any], *, id: UUID) -> Citation:
    """A reference as a client cites it.

    Source: a client takes details named url, source or id out of what it shows; hence "Link".
    """
    metadata = {key: payload[key] for key in ("url", "doc_id", "date") if payload[key]}
    about = {
        "type": "web" if payload["url"] else "direct retrieval",
        "name": payload["title"],
        "description": payload["content"][:200],
        "origin": payload["source"],
        "metadata": metadata,
    }
    details = {
        "Title": payload["title"],
        "Link": payload["url"],
        "Content": short(payload["content"]),
    }
    return Citation(
        id=str(id),
        source_info={**{key: value for key, value in about.items() if value}, "citable": True},
        details=({key: value for key, value in details.items() if value},),
    )
