"""Events that display the outputs of a component in a client.

Text for only the user streams as part of the answer, other text is a step, because the model
repeats it. Tables and charts are artifacts; references and links are cited after the answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
import json
import re
from typing import Any
from uuid import UUID, uuid5

from copilot_admin.agent.text import truncate
from copilot_admin.agent.tools.artifacts import ROUND, ChartType, chart_params
from copilot_admin.agent.tools.html import clean_html
from protocol.components import PAYLOADS, ComponentOutput, Content, ContentType, VisibleScope, merge
from protocol.events import (
    ArtifactType,
    Citation,
    Event,
    MessageArtifact,
    MessageChunk,
    StatusUpdate,
)
from protocol.json import Json, JsonObject, clean_json, is_number, json_of, list_of, object_of

MAX_IMAGE = 500_000  # characters of base64 in an event
MAX_DETAILS = 50  # of one step
MAX_DETAIL = 2_000  # characters
_DEFERRED = frozenset(  # their pieces are joined and displayed when the component has ended
    {ContentType.TEXT, ContentType.CODE, ContentType.THOUGHT, ContentType.PLAN}
)
# Clients hide details with the names on the left.
_DETAIL_NAMES = {"url": "Link", "source": "From", "id": "Number", "category": "Kind"}
_URL = re.compile(r"(https?://|mailto:)[^\s<>]+", re.IGNORECASE)


class ComponentEvents:
    """Events of one call.

    `id` is the namespace for ids of artifacts and citations. With `stream_all_text`, text for model
    and user is part of the answer.
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
        self._artifacts = 0
        self._deferred: list[ComponentOutput] = []
        self._tail = ""  # of the streamed text

    def begin(self, arguments: JsonObject) -> Iterator[Event]:
        """Yield the step that announces the component and its arguments."""
        yield from self._step(f"Running {self._title}", arguments)

    def take(self, output: ComponentOutput) -> Iterator[Event]:
        """Yield the events of an output that the client can display immediately."""
        for content in output.content:
            for_all = content.visible_scope is VisibleScope.ALL and self._stream_all_text
            streams = content.visible_scope is VisibleScope.USER or for_all
            if content.type is ContentType.TEXT and streams:
                yield from self._write(str(content.text.model_dump()["info"]))
            elif content.type in _DEFERRED:
                self._deferred.append(ComponentOutput(role=output.role, content=(content,)))
            else:
                yield from self._show(content)

    def end(self) -> Iterator[Event]:
        """Yield the events that need the complete output."""
        for content in merge(self._deferred).content:
            yield from self._show(content)
        if self._tail and not self._tail.endswith("\n\n"):
            yield from self._write("\n\n")

    def _show(self, content: Content) -> Iterator[Event]:
        payload = content.text.model_dump()
        if content.type is ContentType.TEXT:
            heading = content.name or "Result"
            yield from self._step(f"{self._title} gave a result", {heading: payload["info"]})
        if content.visible_scope is VisibleScope.LLM:
            return
        match content.type:
            case ContentType.CODE if content.visible_scope is VisibleScope.USER:
                yield from self._write(_fence(payload["code"]))
            case ContentType.CODE:
                yield self._artifact(ArtifactType.TEXT, content, _fence(payload["code"]))
            case ContentType.JSON | ContentType.CHART:
                yield self._data(content, payload)
            case ContentType.IMAGE:
                yield from self._image(content, payload)
            case ContentType.REFERENCES:
                self._cite(payload)
            case ContentType.URLS if _is_url(payload["url"]):
                link = PAYLOADS[ContentType.REFERENCES](title=payload["url"], **payload)
                self._cite(link.model_dump())
            case ContentType.FILES | ContentType.URLS | ContentType.AUDIO:
                name = payload.get("filename") or payload["url"]
                yield from self._write(_link(name, payload["url"]))
            case _:
                yield from self._show_progress(content.type, payload)

    def _show_progress(self, type: ContentType, payload: Mapping[str, Any]) -> Iterator[Event]:
        steps: Mapping[ContentType, tuple[str, Mapping[str, Any]]] = {
            ContentType.THOUGHT: ("thinks", {"Thought": payload.get("info")}),
            ContentType.PLAN: ("has a plan", payload),
            ContentType.FUNCTION_CALL: (f"calls {payload.get('name')}", payload),
            ContentType.BROWSER: ("uses a browser", {"Query": payload.get("query")}),
        }
        if type in steps:
            words, details = steps[type]
            yield from self._step(f"{self._title} {words}", details)
        elif type is ContentType.PROGRESS:
            text = payload["message"] or payload["step"] or self._title
            percent = round(min(max(payload["progress"], 0.0), 1.0) * 100)
            yield from self._step(f"{text} ({percent} %)", {})

    def _step(self, message: str, details: Mapping[str, Any]) -> Iterator[Event]:
        if self._show_steps:
            shown = {}
            for key, value in islice(details.items(), MAX_DETAILS):
                if value not in (None, "", [], {}):
                    name = truncate(_DETAIL_NAMES.get(key.lower()) or key)
                    shown[name[:1].upper() + name[1:].replace("_", " ")] = _shorten(value)
            yield StatusUpdate(message=_shorten(message), details=(shown,) if shown else ())

    def _write(self, text: str) -> Iterator[Event]:
        if text:
            self._tail = (self._tail + text)[-2:]
            yield MessageChunk(text)

    def _data(self, content: Content, payload: Mapping[str, Any]) -> Event:
        """Return a chart, a table of flat objects, or any other data as text."""
        text, is_chart = payload["data"], content.type is ContentType.CHART
        value = clean_json(json_of(text))
        about = value if isinstance(value, Mapping) else {"rows": value}
        if table := _rows(about.get("rows") if is_chart else value):
            x, y = _axes(table, about)
            if not is_chart or payload["type"] not in tuple(ChartType) or not y:
                return self._artifact(ArtifactType.TABLE, content, table)
            kind = ChartType(payload["type"])
            params = chart_params(kind, x=x, y=y[:1] if kind in ROUND else y)
            return self._artifact(ArtifactType.CHART, content, table, chart_params=params)
        if not is_chart and value is not None:
            text = json.dumps(value, indent=2, ensure_ascii=False)
        return self._artifact(ArtifactType.TEXT, content, _fence(text, "json"))

    def _image(self, content: Content, payload: Mapping[str, Any]) -> Iterator[Event]:
        name, url, data = payload["filename"], payload["url"], payload["base64"] or ""
        if url:
            sign = "!" if _is_url(url) else ""  # of an image in Markdown
            yield from self._write(sign + _link(name or "Image", url))
        elif data and len(data) <= MAX_IMAGE:
            kind = str(payload["mime_type"] or "jpeg").removeprefix("image/")
            source = f"data:image/{escape(kind)};base64,{escape(data)}"
            html = f'<img src="{source}" alt="{escape(name)}">'
            yield self._artifact(ArtifactType.HTML, content, clean_html(html))
        elif data:
            name = _escape_markdown(name or "An image")
            yield from self._write(f"{name} is too large to be shown.\n\n")

    def _artifact(self, type: ArtifactType, content: Content, value: Any, **more: Any) -> Event:
        self._artifacts += 1
        return MessageArtifact(
            type=type,
            uuid=str(uuid5(self._id, f"artifact {self._artifacts}")),
            artifact_name=content.name.strip() or self._title,
            description=self._description,
            content=value,
            **more,
        )

    def _cite(self, payload: Mapping[str, Any]) -> None:
        key = reference_key(payload)
        if key in self.citations or not any((*key, payload["source"], payload["content"])):
            return
        about = {
            "type": "web" if payload["url"] else "direct retrieval",
            "name": payload["title"],
            "description": payload["content"][:200],
            "origin": payload["source"],
            "metadata": {one: payload[one] for one in ("url", "doc_id", "date") if payload[one]},
            "citable": True,
        }
        details = {
            "Title": payload["title"],
            "Link": payload["url"],
            "Content": _shorten(payload["content"]),
        }
        self.citations[key] = Citation(
            id=str(uuid5(self._id, f"citation {len(self.citations) + 1}")),
            source_info={name: value for name, value in about.items() if value},
            details=({name: value for name, value in details.items() if value},),
        )


def reference_key(payload: Mapping[str, Any]) -> tuple[str, str]:
    """Return the key that repeated references share."""
    return payload["url"] or payload["doc_id"], payload["title"]


def _axes(table: Sequence[JsonObject], about: JsonObject) -> tuple[str, list[str]]:
    """Return the columns of a chart, by default the first one and those with numbers."""
    columns = list(table[0])
    x, y = str(about.get("x_key")), about.get("y_keys")
    x = x if x in columns else columns[0]
    wanted = [y] if isinstance(y, str) else list_of(y) or [one for one in columns if one != x]
    series = []
    for name in wanted:
        values = [row.get(str(name)) for row in table]
        numbers = [value for value in values if value is not None]
        if name in columns and numbers and all(map(is_number, numbers)):
            series.append(str(name))
    return x, series


def _rows(value: Json) -> list[JsonObject]:
    """Return the value if it is a list of flat objects, else an empty list."""
    rows = [object_of(row) for row in list_of(value)]
    cells = (cell for row in rows for cell in row.values())
    is_flat = not any(isinstance(cell, dict | list) for cell in cells)
    return rows if all(rows) and is_flat else []


def _is_url(text: str) -> bool:
    return _URL.fullmatch(text) is not None


def _link(name: str, url: str) -> str:
    if not _is_url(url):
        return f"{_escape_markdown(name)}\n\n"
    target = url.replace("(", "%28").replace(")", "%29")
    return f"[{_escape_markdown(name)}]({target})\n\n"


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|!])", r"\\\1", " ".join(text.split()))


def _fence(code: str, language: str = "") -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}\n\n"


def _shorten(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return truncate(text, MAX_DETAIL)
