"""Blocks that an answer is made of, each with its template, and readable excerpts of data."""

from collections.abc import Mapping
from dataclasses import dataclass
import json
from typing import ClassVar, NamedTuple, TypeAlias

from django.utils.safestring import SafeString

from copilot_admin.models import Node
from copilot_admin.rendering.charts import DrawnChart
from copilot_admin.rendering.markdown import safe_html
from copilot_admin.rendering.tables import (
    MAX_CELL,
    MAX_ROWS,
    MAX_ROWS_MORE,
    DrawnTable,
    are_rows,
    build_table,
)
from copilot_admin.rendering.text import pretty_json
from copilot_admin.transcripts.queries.reading import CallView
from protocol.json import Json, clean_json

MAX_PIECES = 200  # each takes half a millisecond to draw
MAX_PARSED = 5_000_000  # characters of text that are tried as JSON: a big widget has 300 kB
FOLDER = "admin/copilot_admin/conversation/blocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayLimits:
    """Part of a value that is shown; a table starts at its row `first`."""

    rows: int
    cell: int
    text: int
    first: int = 0
    pieces: int = MAX_PIECES  # of the results of a call, or of a list


PAGE_LIMITS = DisplayLimits(rows=MAX_ROWS, cell=MAX_CELL, text=4_000)
FULL_LIMITS = DisplayLimits(rows=MAX_ROWS_MORE, cell=5_000, text=1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataExcerpt:
    """A piece of data, or its beginning."""

    key: str  # finds it again in its conversation, to show all of it
    table: DrawnTable | None = None  # of data that is rows; `text` is then empty
    text: str = ""
    is_code: bool = False
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        return self.table is None and not self.text


def build_excerpt(value: Json, *, key: str, limits: DisplayLimits = PAGE_LIMITS) -> DataExcerpt:
    """Make JSON readable; a text that holds JSON is taken as that JSON."""
    value = _unpack(value)
    if are_rows(value):
        table = build_table(value, most_rows=limits.rows, most_cell=limits.cell, first=limits.first)
        return DataExcerpt(key=key, table=table, is_cut=table.is_cut)
    if value is None or value == {} or value == []:
        return DataExcerpt(key=key)
    text = value if isinstance(value, str) else pretty_json(value)
    is_code, is_cut = not isinstance(value, str), len(text) > limits.text
    return DataExcerpt(key=key, text=text[: limits.text], is_code=is_code, is_cut=is_cut)


def _unpack(value: Json) -> Json:
    if isinstance(value, str) and len(value) <= MAX_PARSED and value.lstrip()[:1] in ("[", "{"):
        try:
            value = clean_json(json.loads(value))  # an escape may be half a character
        except (ValueError, RecursionError):
            return value
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        return only if are_rows(only) else value
    return value


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text, as Markdown unless a page has too much of it."""

    template: ClassVar[str] = f"{FOLDER}/text.html"

    text: str
    formatted: bool

    @property
    def html(self) -> SafeString:
        return safe_html(self.text)


class StepLine(NamedTuple):
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


class Source(NamedTuple):
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


class SourceResult(NamedTuple):
    """Data of one requested source."""

    name: str = ""  # empty when the call named none
    error_type: str = ""
    error: str = ""  # in the client's words
    status: str = ""  # of a command to the client: success, error, warning
    message: str = ""
    file: str = ""  # the URL without its signature
    content: DataExcerpt | None = None

    @property
    def failed(self) -> bool:
        return bool(self.error_type or self.error) or self.status == "error"


class CallResult(NamedTuple):
    """A message with the results of one call; `goes_on` if it has more than is shown."""

    message: Node
    sources: tuple[SourceResult, ...]
    goes_on: bool = False

    @property
    def failed(self) -> bool:
        return any(source.failed for source in self.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBlock:
    """A function call that the client ran, and its results."""

    template: ClassVar[str] = f"{FOLDER}/call.html"

    key: str
    call: CallView
    arguments: DataExcerpt
    results: tuple[CallResult, ...]
    after_data: bool  # it changes something, and the model had read data in this turn

    @property
    def unshown(self) -> int:
        return len(self.call.results) - len(self.results)

    @property
    def failed(self) -> bool:
        return any(result.failed for result in self.results)


class Section(NamedTuple):
    label: str
    content: DataExcerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldBlock:
    """Work of the server or the model, folded: a tool call, a component, reasoning, data."""

    template: ClassVar[str] = f"{FOLDER}/fold.html"

    key: str
    icon: str
    title: str = ""
    name: str = ""  # of the tool, in code; `title` is the text before it
    facts: tuple[str, ...] = ()  # such as the duration
    error: str = ""
    sections: tuple[Section, ...] = ()


class FileLine(NamedTuple):
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


_Small: TypeAlias = TextBlock | StepsBlock | FilesBlock | SuggestionsBlock
Block: TypeAlias = _Small | ArtifactBlock | CitationsBlock | CallBlock | FoldBlock
