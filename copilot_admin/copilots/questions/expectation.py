"""What the answer to a saved question shall be, as a value and as files and rows have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
import math
from typing import Annotated, Any, Self

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import PlainValidator, StringConstraints, model_validator

from copilot_admin.copilots.config_types import StoredRecord, fault

LONGEST_EXPECTED = 2000  # characters; a sentence for a judge has some dozens


class ExpectationKind(StrEnum):
    """In which way an answer is looked at; the name is the key in a file."""

    CONTAINS = "contains"
    LACKS = "lacks"
    NUMBER = "number"
    CITES = "cites"
    CALLS = "calls"
    JUDGED = "judged"

    @property
    def label(self) -> str | Promise:
        """What the form calls it."""
        return _WORDS[self].label


@dataclass(frozen=True, slots=True)
class _Words:
    """How people are told of a kind: in the form's choice, and with what is expected."""

    label: str | Promise
    sentence: str | Promise


_WORDS: Mapping[ExpectationKind, _Words] = {
    ExpectationKind.CONTAINS: _Words(
        gettext_lazy("It contains these words"), gettext_lazy("It contains “%(text)s”.")
    ),
    ExpectationKind.LACKS: _Words(
        gettext_lazy("It does not contain these words"),
        gettext_lazy("It does not contain “%(text)s”."),
    ),
    ExpectationKind.NUMBER: _Words(
        gettext_lazy("It has this number"), gettext_lazy("It has the number %(number).10g.")
    ),
    ExpectationKind.CITES: _Words(
        gettext_lazy("It cites the widget with this id"),
        gettext_lazy("It cites the widget “%(text)s”."),
    ),
    ExpectationKind.CALLS: _Words(
        gettext_lazy("It calls this function"), gettext_lazy("It calls the function “%(text)s”.")
    ),
    ExpectationKind.JUDGED: _Words(
        gettext_lazy("A model finds this sentence true of it"),
        gettext_lazy("A model finds: %(text)s"),
    ),
}
_NEARLY = gettext_lazy("It has the number %(number).10g, give or take %(tolerance).10g.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What an answer shall be.

    Attributes:
        text: The words, the id of the widget, the name of the function, or the sentence that a
            model judges by; empty for a number.
        number: What the answer shall say, give or take the tolerance.
    """

    kind: ExpectationKind
    text: str = ""
    number: float = 0.0
    tolerance: float = 0.0

    @property
    def sentence(self) -> str:
        """What is expected, for people."""
        words = _NEARLY if self.tolerance else _WORDS[self.kind].sentence
        about = {"text": self.text, "number": self.number, "tolerance": self.tolerance}
        return str(words) % about


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault(_("must be a number."))
    if not math.isfinite(value):
        raise fault(_("must be a number with an end."))
    return value


def _not_negative(value: object) -> int | float:
    number = _number(value)
    if number < 0:
        raise fault(_("must be 0 or more."))
    return number


_Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_EXPECTED, pattern=r"\S")]
# Of a union, pydantic tells what is wrong with each of its types.
_Number = Annotated[int | float, PlainValidator(_number)]
_Distance = Annotated[int | float, PlainValidator(_not_negative)]


class ExpectationEntry(StoredRecord):
    """What the answer shall be; one key besides the tolerance of a number."""

    contains: _Text | None = None
    lacks: _Text | None = None
    number: _Number | None = None
    tolerance: _Distance | None = None
    cites: _Text | None = None
    calls: _Text | None = None
    judged: _Text | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        given = [kind.value for kind in ExpectationKind if getattr(self, kind) is not None]
        if len(given) != 1:
            kinds = ", ".join(kind.value for kind in ExpectationKind)
            sentence = _("names %(count)d expectations. Keep exactly one of: %(kinds)s.")
            raise fault(sentence % {"count": len(given), "kinds": kinds})
        if self.tolerance is not None and self.number is None:
            raise fault(_("a tolerance belongs to a number. Take it out."))
        return self

    def row(self) -> dict[str, Any]:
        """The keys that are given, as a row stores them."""
        return self.model_dump(exclude_none=True)

    def value(self) -> Expectation:
        """The expectation that the keys describe."""
        kind = next(kind for kind in ExpectationKind if getattr(self, kind) is not None)
        if self.number is not None:
            return Expectation(
                kind=kind, number=float(self.number), tolerance=float(self.tolerance or 0)
            )
        return Expectation(kind=kind, text=str(getattr(self, kind)))


def expectation_in(row: Mapping[str, Any]) -> Expectation | None:
    """The expectation that a row holds; None where nothing is expected.

    Raises:
        pydantic.ValidationError: It holds none that this release knows.
    """
    return ExpectationEntry.model_validate(dict(row)).value() if row else None
