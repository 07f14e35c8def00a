"""The kinds of blocks that an answer is made of; each names the template that draws it."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from django.utils.safestring import SafeString

from copilot_admin.admin.blocks.contents import DataExcerpt
from copilot_admin.models import Node
from copilot_admin.rendering.charts import DrawnChart
from copilot_admin.rendering.markdown import safe_html
from copilot_admin.transcripts.queries import CallView

FOLDER = "admin/copilot_admin/conversation/blocks"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text, as Markdown unless a page has too much of it."""

    template: ClassVar[str] = f"{FOLDER}/text.html"

    text: str
    formatted: bool

    @property
    def html(self) -> SafeString:
        return safe_html(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    message: str
    is_warning: bool
    hidden: bool
    details: tuple[DataExcerpt, ...]


@dataclass(frozen=True, slots=True)
class StepsBlock:
    template: ClassVar[str] = f"{FOLDER}/steps.html"

    steps: tuple[StepLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactBlock:
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
    key: str
    name: str
    place: str
    arguments: tuple[tuple[str, str], ...]
    details: DataExcerpt


@dataclass(frozen=True, slots=True)
class CitationsBlock:
    """The sources of an answer; `number` counts all that it cites."""

    template: ClassVar[str] = f"{FOLDER}/citations.html"

    sources: tuple[Source, ...]
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceResult:
    """Data of one requested source.

    Attributes:
        name: The requested source; empty when the call named none.
        error: Why there is no data, in the client's words.
        status: How a command to the client ended: success, error, warning.
        file: The URL of a file, without its signature.
    """

    name: str = ""
    error_type: str = ""
    error: str = ""
    status: str = ""
    message: str = ""
    file: str = ""
    content: DataExcerpt | None = None

    @property
    def failed(self) -> bool:
        return bool(self.error_type or self.error) or self.status == "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """A message with the results of one call; `goes_on` if it has more than is shown."""

    message: Node
    sources: tuple[SourceResult, ...]
    goes_on: bool = False

    @property
    def failed(self) -> bool:
        return any(source.failed for source in self.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBlock:
    """A function call that the client ran, and its results.

    Attributes:
        after_data: It changes something, and the model had read data in this turn.
    """

    template: ClassVar[str] = f"{FOLDER}/call.html"

    key: str
    call: CallView
    arguments: DataExcerpt
    results: tuple[CallResult, ...]
    after_data: bool

    @property
    def unshown(self) -> int:
        return len(self.call.results) - len(self.results)

    @property
    def failed(self) -> bool:
        return any(result.failed for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    label: str
    content: DataExcerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldBlock:
    """Work of the server or the model, folded: a tool call, a component, reasoning, data.

    Attributes:
        name: Of the tool, in code; `title` is the text before it.
        facts: Such as the duration.
        error: Why it failed.
    """

    template: ClassVar[str] = f"{FOLDER}/fold.html"

    key: str
    icon: str
    title: str = ""
    name: str = ""
    facts: tuple[str, ...] = ()
    error: str = ""
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    name: str
    facts: tuple[str, ...]
    note: str
    fault: str


@dataclass(frozen=True, slots=True)
class FilesBlock:
    template: ClassVar[str] = f"{FOLDER}/files.html"

    files: tuple[FileLine, ...]


@dataclass(frozen=True, slots=True)
class SuggestionsBlock:
    template: ClassVar[str] = f"{FOLDER}/suggestions.html"

    suggestions: tuple[str, ...]


Block: TypeAlias = (
    TextBlock
    | StepsBlock
    | ArtifactBlock
    | CitationsBlock
    | CallBlock
    | FoldBlock
    | FilesBlock
    | SuggestionsBlock
)
