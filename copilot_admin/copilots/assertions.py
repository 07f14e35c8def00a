"""Assertions of a test case, as rows and copilot files have them."""

from enum import StrEnum
import math
from typing import Annotated, Any, Self

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import PlainValidator, StringConstraints, model_validator

from copilot_admin.copilots.config_types import StoredRecord, fault

MAX_EXPECTED_LENGTH = 2000  # characters; a sentence for a judge has some dozens


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
        """Return the name of the kind in forms."""
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
        """Return the keys that are given."""
        return self.model_dump(exclude_none=True)
