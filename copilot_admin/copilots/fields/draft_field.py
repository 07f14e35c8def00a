"""What one row of the table of draft fields says: its key, its column, and how it is edited."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, TypeAlias

from django.db import models
from django.utils.functional import Promise

from copilot_admin.copilots.fields.shape import StoredRecord
from copilot_admin.models import Copilot

Text: TypeAlias = str | Promise
Line: TypeAlias = str | tuple[str, ...]  # names of inputs that stand side by side


@dataclass(frozen=True, slots=True, eq=False)
class FormTab:
    """A page of the form; `key` names it in addresses."""

    key: str
    title: Text


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A part of a tab, with a sentence where its title does not say enough.

    Attributes:
        is_folded: Few need it: it opens by itself only where something is set or wrong.
    """

    title: Text
    tab: FormTab
    description: Text = ""
    is_folded: bool = False


class Input(StrEnum):
    """Inputs that need nothing said about them."""

    COLUMN = "column"  # what Django draws for the column
    ADDRESS = "address"
    PARAGRAPH = "paragraph"
    PROMPT = "prompt"  # with its placeholders
    SUGGESTIONS = "suggestions"  # one line, with what is known beside it
    TOOLS = "tools"  # a switch for each tool there is
    COMPONENTS = "components"  # a switch for each component there is
    OWN = "own"  # several, which the form itself puts together


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One of the ways of a choice, or one of several switches."""

    value: str
    label: Text
    help: Text
    default: bool = False  # of a switch


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few ways, each explained."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Switches:
    """Things that are on or off; a draft stores those that differ from their default."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A list of records; the values of `unique` must differ."""

    record: type[StoredRecord]
    add_label: Text
    unique: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """A list of short texts; `noun` is what one of them is.

    Attributes:
        fault_of: What is wrong with a text, in words; nothing when it is right.
        differ: No two may be the same.
    """

    noun: Text
    label: Text
    add_label: Text
    longest: int
    fault_of: Callable[[str], Text] | None = None
    differ: bool = False


Editor: TypeAlias = Input | Choice | Switches | Rows | Texts


class FileDefault(Enum):
    """What a file without the key means, where that is not a value of its own."""

    OF_COLUMN = "the default of the column"


OF_COLUMN: Final = FileDefault.OF_COLUMN


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DraftField:
    """One field of a draft: everything about it that is not behaviour.

    Attributes:
        key: In a copilot file and in the document of a version.
        file: The type of its value in a file, with its limits.
        label: In the form; in the comparison as well, unless `compared_as` is another.
        column: Of `Copilot`; empty: named like the key.
        file_default: What a file means that does not have the key.
        is_versioned: Else it acts at once, and is part of no version.
        is_keeping: Whether those who hold data say what it is, rather than builders.
        is_always_exported: Also where it has its default, since it says much about a copilot.
        section: Of the form; None: it is edited in files alone.
        place: Within the section; fields with the same are in the order of the table.
        is_beside: Whether it stands on one line with the field before it.
        inputs: Lines of inputs, where that is not one of the column's name; problems are told at
            the last.
        in_words: A value as people read it; None: as `drafts.in_words` has it.
        in_file: A value of a document as a file has it.
        of_draft: The value of a draft; None: what is in the column.
        into_draft: Makes it the value of a draft; None: it is put into the column.
    """

    key: str
    file: Any
    label: Text = ""
    help: Text = ""
    column: str = ""
    file_default: Any = OF_COLUMN
    is_versioned: bool = True
    is_keeping: bool = False
    is_always_exported: bool = False
    section: Section | None = None
    place: int = 0
    is_beside: bool = False
    editor: Editor = Input.COLUMN
    inputs: tuple[Line, ...] = ()
    compared_as: Text = ""
    in_words: Callable[[Any], str] | None = None
    in_file: Callable[[Any], Any] | None = None
    of_draft: Callable[[Copilot], Any] | None = None
    into_draft: Callable[[Copilot, Any], None] | None = None

    def __post_init__(self) -> None:
        if not self.column:
            object.__setattr__(self, "column", self.key)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The inputs of the field in the form, line by line."""
        return self.inputs or (self.column,)

    @property
    def problem_input(self) -> str:
        """The input at which its problems are told."""
        last = self.lines[-1]
        return last if isinstance(last, str) else last[-1]

    @property
    def is_plain(self) -> bool:
        match self.editor:
            case Choice():
                return True
            case Input.OWN | Input.TOOLS | Input.COMPONENTS | Input.ADDRESS:
                return False
            case Input():
                return True
            case _:
                return False

    @property
    def is_required(self) -> bool:
        column = self._column
        return self.file_default is OF_COLUMN and not column.blank and not column.has_default()

    @property
    def default(self) -> Any:
        """The value in a file that does not have the key."""
        return self._column.get_default() if self.file_default is OF_COLUMN else self.file_default

    def value_of(self, copilot: Copilot) -> Any:
        """The value of the field in a draft, as a document has it."""
        return self.of_draft(copilot) if self.of_draft else getattr(copilot, self.column)

    def give(self, copilot: Copilot, value: Any) -> None:
        """Makes a value that of a draft; does not save."""
        if self.into_draft:
            self.into_draft(copilot, value)
        else:
            setattr(copilot, self.column, value)

    def written(self, value: Any) -> Any:
        """A value of a document as a file has it."""
        return self.in_file(value) if self.in_file else value

    @property
    def _column(self) -> "models.Field[Any, Any]":
        return Copilot._meta.get_field(self.column)  # type: ignore[return-value]  # no relation to it
