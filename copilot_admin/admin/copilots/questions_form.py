"""The form of a saved question: its words, and what its answer shall be."""

from contextlib import suppress
from math import isfinite
import re
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.form_fields import check_unturned, with_plain_newlines
from copilot_admin.admin.common.widgets import BoundedText
from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.copilots.questions.entry import LONGEST_QUESTION, QuestionEntry
from copilot_admin.copilots.questions.expectation import LONGEST_EXPECTED, ExpectationKind
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.expectations import numbers_in
from copilot_admin.import_export.questions import fill, read_question, row_of
from copilot_admin.models import SavedQuestion
from copilot_admin.models.evaluation import MAX_LABEL_LENGTH

NOTHING = ""
_WRITTEN = re.compile(r"\(?[-\u2212+]?[$€£¥]?\d[\d.,'\u2019\u00a0\u202f]*\s?%?\)?")
KINDS: tuple[tuple[str, str | Promise], ...] = (
    (NOTHING, gettext_lazy("Nothing: any answer will do")),
    *((kind.value, kind.label) for kind in ExpectationKind),
)


class QuestionForm(forms.Form):
    """Edits a saved question; what it brings along stays as it is."""

    question = forms.CharField(
        label=gettext_lazy("Question"),
        max_length=LONGEST_QUESTION,
        widget=BoundedText(rows=3, most=LONGEST_QUESTION),
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("What the answer shall be"), choices=KINDS, required=False
    )
    expected = forms.CharField(
        label=gettext_lazy("Words, number, widget, function or sentence"),
        max_length=LONGEST_EXPECTED,
        required=False,
        widget=BoundedText(rows=2, most=LONGEST_EXPECTED),
    )
    tolerance = forms.FloatField(
        label=gettext_lazy("Tolerance of a number"), min_value=0, required=False
    )

    label = forms.CharField(
        label=gettext_lazy("Label"),
        max_length=MAX_LABEL_LENGTH,
        required=False,
        validators=[check_unturned],
        help_text=gettext_lazy("Questions with a label can be replayed apart from the others."),
    )

    def __init__(self, saved: SavedQuestion, data: QueryDict | None = None) -> None:
        self.saved = saved
        sent = None if data is None else with_plain_newlines(data)
        super().__init__(
            sent, initial={"question": saved.question, "label": saved.label, **_typed(saved)}
        )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        self._check_expected(cleaned["kind"], cleaned["expected"])
        known = self._brings.names() if self._brings else ()
        if cleaned["kind"] == ExpectationKind.CITES and known and cleaned["expected"] not in known:
            sentence = _("The question does not bring “%(name)s”. It brings: %(known)s.")
            about = {"name": cleaned["expected"], "known": ", ".join(self.brought)}
            raise forms.ValidationError({"expected": sentence % about})
        try:
            entry = read_question(self._row(cleaned))
        except ConfigurationError as error:
            raise forms.ValidationError(error.public) from error
        cleaned["row"] = entry.row()
        return cleaned

    def _check_expected(self, kind: str, text: str) -> None:
        """Refuses half of an expectation: words without a kind would be dropped unsaid.

        Who takes a kind away means it, whatever still stands below.
        """
        if kind == NOTHING and text and "kind" not in self.changed_data:
            sentence = _("Choose what the answer has to do with what is written below.")
            raise forms.ValidationError({"kind": sentence})
        if kind != NOTHING and not text:
            raise forms.ValidationError({"expected": _("Write what is expected.")})

    @property
    def brought(self) -> tuple[str, ...]:
        """What people call the widgets and files that the question brings."""
        if self._brings is None:
            return ()
        widgets = (widget.id for widget in self._brings.widgets)
        return (*widgets, *(file.name for file in self._brings.files))

    @property
    def may_call(self) -> tuple[str, ...]:
        copilot = self.saved.copilot
        own = (*copilot.tools, *(str(row["name"]) for row in copilot.components))
        return (*own, *labels())

    @cached_property
    def _brings(self) -> QuestionEntry | None:
        try:
            return read_question(row_of(self.saved) | {"expect": None})
        except ConfigurationError:
            return None  # this release cannot read it, and says why when it is saved

    def save(self) -> SavedQuestion:
        fill(self.saved, self.cleaned_data["row"])
        self.saved.save()
        return self.saved

    def _row(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        row = row_of(self.saved) | {"question": cleaned["question"]}
        row.pop("expect", None)
        row["label"] = cleaned["label"]
        kind, text = cleaned["kind"], cleaned["expected"]
        if kind == NOTHING:
            return row
        expect: dict[str, Any] = {kind: text}
        if kind == ExpectationKind.NUMBER:
            expect = {kind: _number(text)}
        if cleaned["tolerance"] is not None and kind == ExpectationKind.NUMBER:
            expect["tolerance"] = cleaned["tolerance"]
        return row | {"expect": expect}


def _number(text: str) -> float:
    with suppress(ValueError):
        if isfinite(number := float(text)):
            return number
    found = list(numbers_in(text)) if _WRITTEN.fullmatch(text) else []
    if len(found) != 1:
        raise forms.ValidationError({"expected": _("Write a number, such as 106.5.")})
    if len(found[0]) > 1:
        readings = _(" or ").join(f"{one:.15g}" for one in sorted(found[0]))
        sentence = _("This can be read in two ways. Write %(readings)s.") % {"readings": readings}
        raise forms.ValidationError({"expected": sentence})
    return next(iter(found[0]))


def _typed(saved: SavedQuestion) -> dict[str, Any]:
    known = {kind.value for kind in ExpectationKind}
    for key, value in saved.expectation.items():
        if key in known:
            tolerance = saved.expectation.get("tolerance")
            return {"kind": key, "expected": value, "tolerance": tolerance}
    return {}
