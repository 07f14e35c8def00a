"""A saved question as files and rows have it: what is asked, and what Workspace brings along."""

import json
from typing import Annotated, Any, Literal, Self, cast
from uuid import NAMESPACE_URL, uuid5

from django.utils.translation import gettext as _
from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    PlainValidator,
    StringConstraints,
    model_validator,
)

from copilot_admin.copilots.config_types import Shape, StoredRecord, fault, refuse_repeated
from copilot_admin.copilots.questions.expectation import ExpectationEntry
from copilot_admin.models.evaluation import MAX_LABEL_LENGTH
from protocol.redaction import redact

LONGEST_QUESTION = 20_000  # characters; a page has some three thousand
# Of a question with all that it brings. Tables and a report of some pages have less; each run sends
# it all to the model, and each export writes it.
MOST_BYTES = 4 * 1024 * 1024
MOST_QUESTIONS = 1000  # of a copilot; one replay asks all of them

# Keys of an entry that are columns of their own.
BESIDE_BODY = ("question", "expect", "label")
JsonRow = dict[str, JsonValue]


def _chosen(value: object) -> bool | str:
    if not isinstance(value, bool | str):
        raise fault(_("must be true, false or text."))
    return value


# Of a union, pydantic tells what is wrong with each of its types.
_Chosen = Annotated[bool | str, PlainValidator(_chosen)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]


def _without_secrets(tools: list[JsonRow]) -> list[JsonRow]:
    return cast("list[JsonRow]", json.loads(json.dumps([redact(tool) for tool in tools])))


def _with_slugs(skills: list[JsonRow]) -> list[JsonRow]:
    if any(not isinstance(skill.get("slug"), str) or not skill["slug"] for skill in skills):
        raise fault(_("has a skill without a slug. Give each a slug, by which it is loaded."))
    return skills


class EarlierMessage(Shape):
    """What was said before the question."""

    role: Literal["human", "ai"]
    content: str


class WidgetEntry(Shape):
    """A widget of the dashboard, and what it gives when it is asked.

    Attributes:
        rows: Its table.
        text: Its text.
        items: What Workspace brings of it otherwise, such as a PDF, word for word.
    """

    id: _Name
    name: str = ""
    description: str = ""
    place: Literal["primary", "secondary", "extra"] = "primary"
    uuid: str = ""
    origin: str = "Playground"
    category: str = ""
    columns: list[str] = []
    params: list[JsonRow] = []
    rows: list[JsonRow] | None = None
    text: str | None = None
    items: list[JsonRow] | None = None

    @model_validator(mode="after")
    def _one_kind_of_data(self) -> Self:
        if sum(data is not None for data in (self.rows, self.text, self.items)) > 1:
            raise fault(_("has several kinds of data. Keep one of: rows, text, items."))
        return self

    @property
    def called(self) -> str:
        """The uuid of the widget; made of its id where it has none."""
        return self.uuid or str(uuid5(NAMESPACE_URL, f"{self.origin}/{self.id}"))


class FileEntry(Shape):
    """A file that is attached; `content` is base64."""

    id: Annotated[str, StringConstraints(max_length=200, pattern=r"^file-")]
    name: _Name
    content: str


class QuestionEntry(StoredRecord):
    """A question, what comes with it, and what its answer shall be."""

    question: Annotated[
        str, StringConstraints(min_length=1, max_length=LONGEST_QUESTION, pattern=r"\S")
    ]
    expect: ExpectationEntry | None = None
    earlier: list[EarlierMessage] = []
    widgets: list[WidgetEntry] = []
    files: list[FileEntry] = []
    options: dict[str, _Chosen] = {}
    model: Annotated[str, StringConstraints(max_length=200)] = ""
    timezone: Annotated[str, StringConstraints(max_length=100)] = ""
    tools: Annotated[list[JsonRow], AfterValidator(_without_secrets)] = []
    skills: Annotated[list[JsonRow], AfterValidator(_with_slugs)] = []
    results: Annotated[dict[str, list[JsonRow]], Field(max_length=50)] = {}
    label: Annotated[str, StringConstraints(max_length=MAX_LABEL_LENGTH)] = ""

    @model_validator(mode="after")
    def _each_widget_once(self) -> Self:
        # A dashboard may have the same widget twice, with other parameters: its uuid tells them apart.
        widgets = dict.fromkeys((one.id, one.called) for one in self.widgets)
        again = len(self.widgets) > len(widgets)
        ids = [one.id for one in self.widgets] if again else list({id: None for id, _ in widgets})
        refuse_repeated([*ids, *(one.id for one in self.files)], what=_("widget"))
        return self

    @model_validator(mode="after")
    def _not_too_much(self) -> Self:
        size = len(self.model_dump_json().encode())
        if size > MOST_BYTES:
            sentence = _(
                "has %(size).1f MB with all that it brings; %(most)d MB are the most. Leave out a "
                "file or some rows."
            )
            raise fault(sentence % {"size": size / 1024**2, "most": MOST_BYTES // 1024**2})
        return self

    @model_validator(mode="after")
    def _cites_what_it_brings(self) -> Self:
        cited = self.expect.cites if self.expect else None
        if cited is not None and cited not in self.names():
            known = ", ".join(one.id for one in self.widgets) or _("none")
            sentence = _("shall cite '%(name)s', which it does not bring. Its widgets: %(known)s.")
            raise fault(sentence % {"name": cited, "known": known})
        return self

    def names(self) -> frozenset[str]:
        """All names of the widgets and files that it brings."""
        widgets = {name for one in self.widgets for name in (one.id, one.called, one.name)}
        files = {name for one in self.files for name in (one.id, one.name)}
        return frozenset((widgets | files) - {""})

    def row(self) -> dict[str, Any]:
        """The keys that have not their default; the question is first."""
        given = self.model_dump(exclude_defaults=True)
        return {**given, "expect": self.expect.row()} if self.expect else given

    def body(self) -> dict[str, Any]:
        """What comes with the question."""
        return {key: value for key, value in self.row().items() if key not in BESIDE_BODY}
