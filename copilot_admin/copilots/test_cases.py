"""Test cases as copilot files and rows have them: question, test data, assertions."""

from collections.abc import Mapping
from enum import StrEnum
import hashlib
import json
import math
from typing import Annotated, Any, ClassVar, Literal, Self, cast
from uuid import NAMESPACE_URL, uuid5

from django.core.validators import RegexValidator
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    PlainValidator,
    StringConstraints,
    model_validator,
)

from copilot_admin.copilots.config_types import (
    Shape,
    StoredRecord,
    fault,
    matching,
    refuse_repeated,
)
from copilot_admin.models import Copilot, TestCase
from copilot_admin.models.evaluation import MAX_LABEL_LENGTH
from protocol.redaction import redact

MAX_EXPECTED_LENGTH = 2000  # characters; a sentence for a judge has some dozens
MAX_QUESTION_LENGTH = 20_000  # characters; a page has some three thousand
# Of a question with its test data. Tables and a report of some pages have less; each run sends it
# all to the model, and each export writes it.
MAX_BYTES = 4 * 1024 * 1024
MAX_TEST_CASES = 1000  # of a copilot; one run asks all of them
MAX_ASSERTIONS = 10  # of a test case
CASES_PER_BATCH = 8  # of 4 MB each

# Keys of an entry that are columns of their own.
COLUMNS = ("question", "expect", "label")
JsonRow = dict[str, JsonValue]
_FILE_ID = RegexValidator(r"^file-", _("Start with file-, for example file-report."))


def _check_option(value: object) -> bool | str:
    if not isinstance(value, bool | str):
        raise fault(gettext("must be true, false or text."))
    return value


# Of a union, pydantic reports the errors of each type.
_Option = Annotated[bool | str, PlainValidator(_check_option)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]


def _remove_secrets(tools: list[JsonRow]) -> list[JsonRow]:
    return cast("list[JsonRow]", json.loads(json.dumps([redact(tool) for tool in tools])))


def _check_slugs(skills: list[JsonRow]) -> list[JsonRow]:
    if any(not isinstance(skill.get("slug"), str) or not skill["slug"] for skill in skills):
        raise fault(gettext("has a skill without a slug. Give each skill a slug."))
    return skills


def _as_list(value: object) -> object:
    """Accept a single assertion, as most test cases have."""
    return [] if value is None else [value] if isinstance(value, Mapping) else value


class AssertionKind(StrEnum):
    """Kinds of assertions; the values are keys of copilot files."""

    CONTAINS = "contains"
    LACKS = "lacks"
    NUMBER = "number"
    CITES = "cites"
    CALLS = "calls"
    JUDGED = "judged"

    @property
    def label(self) -> str:
        return str(_LABELS[self][0])


# Name in forms, and summary of an assertion.
_LABELS: dict[AssertionKind, tuple[str | Promise, str | Promise]] = {
    AssertionKind.CONTAINS: (_("Contains"), _("contains “%(text)s”")),
    AssertionKind.LACKS: (_("Does not contain"), _("does not contain “%(text)s”")),
    AssertionKind.NUMBER: (_("Number"), _("number %(text)s")),
    AssertionKind.CITES: (_("Cites widget"), _("cites %(text)s")),
    AssertionKind.CALLS: (_("Calls function"), _("calls %(text)s")),
    AssertionKind.JUDGED: (_("Judged by a model"), _("AI judge: %(text)s")),
}


def _check_number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault(gettext("must be a number."))
    if not math.isfinite(value):
        raise fault(gettext("must be a finite number."))
    return value


def _check_tolerance(value: object) -> int | float:
    number = _check_number(value)
    if number < 0:
        raise fault(gettext("must be 0 or more."))
    return number


Text = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_EXPECTED_LENGTH, pattern=r"\S")
]
# Of a union, pydantic reports the errors of each type.
_Number = Annotated[int | float, PlainValidator(_check_number)]
_Tolerance = Annotated[int | float, PlainValidator(_check_tolerance)]


class Assertion(StoredRecord):
    """One condition for an answer: a single key, and with `number` optionally a tolerance."""

    contains: Text | None = None
    lacks: Text | None = None
    number: _Number | None = None
    tolerance: _Tolerance | None = None
    cites: Text | None = None
    calls: Text | None = None
    judged: Text | None = None

    @model_validator(mode="after")
    def _check_one_kind(self) -> Self:
        given = [kind for kind in AssertionKind if getattr(self, kind) is not None]
        if len(given) != 1:
            kinds = ", ".join(AssertionKind)
            sentence = gettext("has %(count)d kinds of assertions. Keep exactly one of: %(kinds)s.")
            raise fault(sentence % {"count": len(given), "kinds": kinds})
        if self.tolerance is not None and self.number is None:
            raise fault(gettext("has a tolerance without a number. Remove the tolerance."))
        return self

    @property
    def kind(self) -> AssertionKind:
        return next(kind for kind in AssertionKind if getattr(self, kind) is not None)

    @property
    def text(self) -> str:
        """Return what is demanded, as a form shows it."""
        value = getattr(self, self.kind)
        return f"{value:.15g}" if self.kind is AssertionKind.NUMBER else str(value)

    @property
    def summary(self) -> str:
        """Return the assertion in a few words."""
        text = f"{self.text} ± {self.tolerance:.10g}" if self.tolerance else self.text
        return str(_LABELS[self.kind][1]) % {"text": text}

    def row(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class EarlierMessage(Shape):
    role: Literal["human", "ai"]
    content: str


class WidgetEntry(Shape):
    """A widget of the dashboard with its data: a table, a text, or other data such as a PDF."""

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
    def _check_one_kind_of_data(self) -> Self:
        if sum(data is not None for data in (self.rows, self.text, self.items)) > 1:
            raise fault(gettext("has several kinds of data. Keep one of: rows, text, items."))
        return self

    @property
    def effective_uuid(self) -> str:
        """Return the uuid of the widget, derived from its id if it has none."""
        return self.uuid or str(uuid5(NAMESPACE_URL, f"{self.origin}/{self.id}"))


class FileEntry(Shape):
    """An attached file; `content` is base64."""

    id: Annotated[str, StringConstraints(max_length=200), matching(_FILE_ID)]
    name: _Name
    content: str


class TestCaseEntry(StoredRecord):
    __test__: ClassVar = False  # for pytest, which collects classes named Test*

    question: Annotated[
        str, StringConstraints(min_length=1, max_length=MAX_QUESTION_LENGTH, pattern=r"\S")
    ]
    expect: Annotated[
        list[Assertion], Field(max_length=MAX_ASSERTIONS), BeforeValidator(_as_list)
    ] = []
    earlier: list[EarlierMessage] = []
    widgets: list[WidgetEntry] = []
    files: list[FileEntry] = []
    options: dict[str, _Option] = {}
    model: Annotated[str, StringConstraints(max_length=200)] = ""
    timezone: Annotated[str, StringConstraints(max_length=100)] = ""
    tools: Annotated[list[JsonRow], AfterValidator(_remove_secrets)] = []
    skills: Annotated[list[JsonRow], AfterValidator(_check_slugs)] = []
    results: Annotated[dict[str, list[JsonRow]], Field(max_length=50)] = {}
    label: Annotated[str, StringConstraints(max_length=MAX_LABEL_LENGTH)] = ""

    @model_validator(mode="after")
    def _check_widgets(self) -> Self:
        # A dashboard may have a widget twice with other parameters: their uuids differ.
        keys = ["/".join(filter(None, (one.origin, one.id, one.uuid))) for one in self.widgets]
        refuse_repeated(keys, what=gettext("widget"))
        refuse_repeated([one.id for one in self.files], what=gettext("file"))
        return self

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        size = len(self.model_dump_json().encode())
        if size > MAX_BYTES:
            sentence = gettext(
                "has %(size).1f MB with its test data; the limit is %(most)d MB. Leave out a file "
                "or some rows."
            )
            raise fault(sentence % {"size": size / 1024**2, "most": MAX_BYTES // 1024**2})
        return self

    @model_validator(mode="after")
    def _check_citations(self) -> Self:
        known = self.names()
        for cited in (one.cites for one in self.expect if one.cites is not None):
            if cited not in known:
                names = ", ".join(one.id for one in self.widgets) or gettext("none")
                sentence = gettext(
                    "cites '%(name)s', which is not in the test data. Widgets: %(known)s."
                )
                raise fault(sentence % {"name": cited, "known": names})
        return self

    def names(self) -> frozenset[str]:
        widgets = {name for one in self.widgets for name in (one.id, one.effective_uuid, one.name)}
        files = {name for one in self.files for name in (one.id, one.name)}
        return frozenset((widgets | files) - {""})

    def row(self) -> dict[str, Any]:
        """Return the keys that differ from their defaults; a single assertion without its list."""
        given = self.model_dump(exclude_defaults=True)
        expect = [one.row() for one in self.expect]
        return {**given, "expect": expect[0] if len(expect) == 1 else expect} if expect else given


def as_row(case: TestCase) -> dict[str, Any]:
    """Return a test case as a copilot file has it, also one that this release can't read."""
    expect = case.assertions
    return {
        "question": case.question,
        **({"expect": expect[0] if len(expect) == 1 else expect} if expect else {}),
        **case.test_data,
        **({"label": case.label} if case.label else {}),
    }


def fill_case(case: TestCase, row: Mapping[str, Any]) -> None:
    case.question = row["question"]
    case.assertions = cast("list[Any]", _as_list(row.get("expect")))
    case.label = row.get("label", "")
    case.test_data = {key: value for key, value in row.items() if key not in COLUMNS}
    whole = json.dumps([case.question, case.test_data], sort_keys=True, ensure_ascii=False)
    case.digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def move_case(case: TestCase, *, by: int) -> None:
    """Move a test case by some positions towards the end; its results stay up to date."""
    with transaction.atomic():
        Copilot.objects.select_for_update(of=("self",), no_key=True).get(pk=case.copilot_id)
        rows = TestCase.objects.filter(copilot=case.copilot_id)
        before = dict(rows.values_list("pk", "position"))
        order = list(before)
        position = min(max(order.index(case.pk) + by, 0), len(order) - 1)
        order.remove(case.pk)
        order.insert(position, case.pk)
        for number, pk in enumerate(order):
            if before[pk] != number:  # not saved: its results would be older than the case
                rows.filter(pk=pk).update(position=number)


def copy_cases(copilot: Copilot, *, to: Copilot) -> None:
    """Copy the test cases of a copilot to another, without results."""
    for case in TestCase.objects.filter(copilot=copilot).iterator(CASES_PER_BATCH):
        case.pk = None
        case._state.adding = True
        case.copilot = to
        case.save()
