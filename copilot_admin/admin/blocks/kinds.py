"""The kinds of blocks that an answer is made of; each knows the template that draws it."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from django.utils.safestring import SafeString

from copilot_admin.admin.blocks.contents import DataExcerpt
from copilot_admin.admin.blocks.results import SourceResult
from copilot_admin.rendering.markdown import safe_html
from copilot_admin.rendering.svg import DrawnChart
from copilot_admin.transcripts.queries import CallView, MessageView

FOLDER = "admin/copilot_admin/conversation/blocks"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of the answer's text; unformatted where a page holds too much of it."""

    template: ClassVar[str] = f"{FOLDER}/text.html"

    text: str
    formatted: bool

    @property
    def html(self) -> SafeString:
        """The text as Markdown says it should look."""
        return safe_html(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """A line of the steps that Workspace shows beside an answer."""

    message: str
    is_warning: bool
    hidden: bool
    details: tuple[DataExcerpt, ...]


@dataclass(frozen=True, slots=True)
class StepsBlock:
    """Steps that followed each other."""

    template: ClassVar[str] = f"{FOLDER}/steps.html"

    steps: tuple[StepLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactBlock:
    """A table, a chart or a document within the answer."""

    template: ClassVar[str] = f"{FOLDER}/artifact.html"

    key: str
    type: str
    name: str
    description: str
    content: DataExcerpt
    chart: DrawnChart | None
    source: str  # of an HTML artifact, as it was sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source that an answer cites."""

    name: str
    place: str
    arguments: tuple[tuple[str, str], ...]
    details: DataExcerpt


@dataclass(frozen=True, slots=True)
class CitationsBlock:
    """The sources of an answer."""

    template: ClassVar[str] = f"{FOLDER}/citations.html"

    sources: tuple[Source, ...]
    number: int  # of all that it cites


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the client brought back for one call."""

    message: MessageView
    sources: tuple[SourceResult, ...]
    goes_on: bool = False  # more came back than is shown

    @property
    def failed(self) -> bool:
        """Whether any source gave an error."""
        return any(source.failed for source in self.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBlock:
    """A function call that the client ran, and what it sent back."""

    template: ClassVar[str] = f"{FOLDER}/call.html"

    key: str
    call: CallView
    arguments: DataExcerpt
    results: tuple[Answered, ...]
    after_data: bool  # it does something, and the model had read data in this turn

    @property
    def unshown(self) -> int:
        """How many more results came back than are shown."""
        return len(self.call.results) - len(self.results)

    @property
    def failed(self) -> bool:
        """Whether any result has an error."""
        return any(result.failed for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBlock:
    """A tool that the server ran."""

    template: ClassVar[str] = f"{FOLDER}/tool.html"

    key: str
    name: str
    arguments: DataExcerpt
    result: DataExcerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentBlock:
    """A component that the server ran, and what it cost."""

    template: ClassVar[str] = f"{FOLDER}/component.html"

    key: str
    name: str
    version: str
    arguments: DataExcerpt
    result: DataExcerpt
    error: str
    outputs: int
    ms: int
    usage: DataExcerpt
    metrics: DataExcerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningBlock:
    """What a model thought before it spoke."""

    template: ClassVar[str] = f"{FOLDER}/reasoning.html"

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenData:
    """A Data message that the model was shown."""

    key: str
    kind: str
    instance: str
    content: DataExcerpt


@dataclass(frozen=True, slots=True)
class DataBlock:
    """The Data messages that the model was shown, one after the other."""

    template: ClassVar[str] = f"{FOLDER}/data.html"

    messages: tuple[SeenData, ...]

    @property
    def key(self) -> str:
        """Sets the block apart on its page."""
        return self.messages[0].key

    @property
    def kinds(self) -> tuple[tuple[str, int], ...]:
        """How many messages there are of each kind, in the order in which they were shown."""
        return tuple(Counter(message.kind for message in self.messages).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """A file that came with the question; `facts` say what it is, in words."""

    name: str
    facts: tuple[str, ...]
    note: str
    fault: str


@dataclass(frozen=True, slots=True)
class FilesBlock:
    """Files that were read before the model was asked."""

    template: ClassVar[str] = f"{FOLDER}/files.html"

    files: tuple[FileLine, ...]


@dataclass(frozen=True, slots=True)
class SuggestionsBlock:
    """Questions that the copilot offered."""

    template: ClassVar[str] = f"{FOLDER}/suggestions.html"

    suggestions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBlock:
    """Anything else in a plain form: its name, and what it holds."""

    template: ClassVar[str] = f"{FOLDER}/other.html"

    key: str
    type: str
    content: DataExcerpt


Block: TypeAlias = (
    TextBlock
    | StepsBlock
    | ArtifactBlock
    | CitationsBlock
    | CallBlock
    | ToolBlock
    | ComponentBlock
    | ReasoningBlock
    | DataBlock
    | FilesBlock
    | SuggestionsBlock
    | OtherBlock
)
