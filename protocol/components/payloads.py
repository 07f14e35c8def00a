"""What a content item carries: one payload for each type, with exact keys.

Source: the returned fields of AppBuilder's component contract, and the payload classes of its SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


class ContentType(StrEnum):
    """What a content item is, which decides the keys of its payload."""

    TEXT = "text"
    CODE = "code"
    FILES = "files"
    URLS = "urls"
    ORAL_TEXT = "oral_text"
    REFERENCES = "references"
    IMAGE = "image"
    CHART = "chart"
    AUDIO = "audio"
    JSON = "json"
    THOUGHT = "thought"
    PLAN = "plan"
    FUNCTION_CALL = "function_call"
    BROWSER = "browser"
    PROGRESS = "progress"

    @classmethod
    def _missing_(cls, value: object) -> "ContentType | None":
        # "tought" stands so in the source; "reasoning_content" is what its SDK sends.
        return cls.THOUGHT if value in ("tought", "reasoning_content") else None


class Payload(BaseModel):
    """The base of all payloads: keys that the contract does not name are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Text(Payload):
    """Words; a stream of them is one text."""

    info: str = ""


class Code(Payload):
    """A program; a stream of its pieces is one program."""

    code: str = ""


class Files(Payload):
    """One file."""

    filename: str = ""
    url: str = ""
    file_id: str = ""


class Urls(Payload):
    """One link."""

    url: str = ""


class OralText(Payload):
    """Words to be spoken."""

    info: str = ""


class ImageDetail(BaseModel):
    """The picture of a reference."""

    model_config = ConfigDict(frozen=True)

    url: str | None = None
    height: str | None = None
    width: str | None = None


class VideoDetail(ImageDetail):
    """The film of a reference."""

    size: str | None = None
    duration: str | None = None
    hover_pic: str | None = None


class References(Payload):
    """One place that an answer rests on; the five keys that clients ask for are always texts."""

    type: str = ""
    source: str = ""
    doc_id: str = ""
    title: str = ""
    content: str = ""
    extra: dict[str, Any] | None = Field(default_factory=dict)
    url: str | None = ""
    web_anchor: str | None = ""
    icon: str | None = None
    date: str | None = None
    id: int | str | None = None
    image: ImageDetail | None = None
    video: VideoDetail | None = None

    @field_validator("type", "source", "doc_id", "title", "content", mode="before")
    @classmethod
    def _text_for_none(cls, value: object) -> object:
        return "" if value is None else value


class Image(Payload):
    """A picture, by address or as base64."""

    filename: str = ""
    url: str = ""
    base64: str | None = ""
    mime_type: str | None = "jpeg"


class Chart(Payload):
    """A chart; `data` is JSON text."""

    type: str = ""
    data: str = ""


class Audio(Payload):
    """A sound, by address or as base64."""

    filename: str = ""
    url: str = ""
    base64: str | None = ""
    mime_type: str | None = ""


class Json(Payload):
    """Any JSON value; `data` is JSON text."""

    data: str = ""


class Thought(Payload):
    """What a model thinks before it answers."""

    info: str = ""


class Task(BaseModel):
    """One task of a plan."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str = ""
    name: str = ""
    description: str = ""
    requires: list[str] = Field(default_factory=list)
    tool: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    status: str = ""


class PlanStep(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    thought: str = ""


class Plan(Payload):
    """What a component is going to do."""

    goal: str = ""
    thought: str = ""
    detail: str = ""
    tasks: list[Task] = Field(default_factory=list)
    steps: list[PlanStep] = Field(default_factory=list)


class FunctionCall(Payload):
    """A tool that a component calls."""

    thought: str = ""
    name: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class Browser(Payload):
    """What a component does in a browser."""

    query: str = ""
    computer: dict[str, Any] = Field(default_factory=dict)
    result: dict[str, Any] = Field(default_factory=dict)
    screenshot: dict[str, Any] = Field(default_factory=dict)
    thought: dict[str, Any] = Field(default_factory=dict)
    action: list[Any] = Field(default_factory=list)


class Progress(Payload):
    """How far a component has come; `progress` is between 0 and 1."""

    progress: float = Field(default=0.0, allow_inf_nan=False)
    step: str = ""
    next_step_name: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PayloadRule:
    """How a payload is made of what a component gives.

    Attributes:
        model: Its keys, their types and defaults.
        required: Keys that a component must give.
        wraps: The key that a bare text stands for; None: a bare text is refused.
    """

    model: type[Payload]
    required: tuple[str, ...] = ()
    wraps: str | None = None


PAYLOADS: Mapping[ContentType, PayloadRule] = {
    ContentType.TEXT: PayloadRule(Text, ("info",), "info"),
    ContentType.CODE: PayloadRule(Code, ("code",), "code"),
    ContentType.FILES: PayloadRule(Files, ("filename", "url")),
    ContentType.URLS: PayloadRule(Urls, ("url",), "url"),
    ContentType.ORAL_TEXT: PayloadRule(OralText, ("info",), "info"),
    ContentType.REFERENCES: PayloadRule(References),
    ContentType.IMAGE: PayloadRule(Image, ("filename", "url")),
    ContentType.CHART: PayloadRule(Chart, ("type", "data")),
    ContentType.AUDIO: PayloadRule(Audio, ("filename", "url")),
    ContentType.JSON: PayloadRule(Json, ("data",), "data"),
    ContentType.THOUGHT: PayloadRule(Thought, ("info",), "info"),
    ContentType.PLAN: PayloadRule(Plan),
    ContentType.FUNCTION_CALL: PayloadRule(FunctionCall, ("thought", "name", "arguments")),
    ContentType.BROWSER: PayloadRule(Browser, ("query",)),
    ContentType.PROGRESS: PayloadRule(Progress),
}
