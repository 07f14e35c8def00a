"""Forms of the Test tab: a test case, a CSV file, a run, the publish gate."""

from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.widgets import reject_bidi_controls, with_plain_newlines
from copilot_admin.agent.client_functions.registry import labels
from copilot_admin.copilots.test_cases import (
    MAX_QUESTION_LENGTH,
    Assertion,
    AssertionKind,
    FileEntry,
    TestCaseEntry,
    as_row,
    fill_case,
)
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.csv_import import MAX_CSV_BYTES, parse_csv, parse_number
from copilot_admin.evaluation.targets import make_run
from copilot_admin.import_export.questions import parse_case, save_last
from copilot_admin.models import Copilot, EvaluationRun, Provider, PublishGate, TargetKind, TestCase
from copilot_admin.models.evaluation import MAX_LABEL_LENGTH
from copilot_admin.models.pricing import COST

MAX_MODEL_CHOICES = 300
MAX_VERSION_CHOICES = 20  # the newest
ALL = "all"
LABEL = "label:"


def _text(label: Any, help_text: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 1, "dir": "auto"})
    return forms.CharField(
        label=label, required=False, help_text=help_text, widget=widget, max_length=20_000
    )


def _boxes(label: Any) -> forms.MultipleChoiceField:
    widget = forms.CheckboxSelectMultiple
    return forms.MultipleChoiceField(label=label, required=False, widget=widget)


class Styled(forms.BaseForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            is_list = isinstance(field.widget, forms.CheckboxSelectMultiple)
            field.widget.attrs["class"] = "ca-check" if is_list else "ca-input"


class CaseForm(Styled, forms.Form):
    question = forms.CharField(
        label=gettext_lazy("Question"),
        max_length=MAX_QUESTION_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    contains = _text(gettext_lazy("Contains"), gettext_lazy("One text per line."))
    lacks = _text(gettext_lazy("Does not contain"), gettext_lazy("One text per line."))
    number = forms.CharField(
        label=gettext_lazy("Number"),
        required=False,
        max_length=100,
        help_text=gettext_lazy("For example 106.5, 12% or 1.2bn."),
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    tolerance = forms.FloatField(
        label=gettext_lazy("Tolerance"),
        min_value=0,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    cites = _text(gettext_lazy("Cites widget"), gettext_lazy("One widget ID per line."))
    calls = _text(gettext_lazy("Calls function"), gettext_lazy("One name per line."))
    judged = _text(
        gettext_lazy("Judged by a model"),
        gettext_lazy("A statement about the answer, for example: It names a risk."),
    )
    label = forms.CharField(
        label=gettext_lazy("Label"),
        max_length=MAX_LABEL_LENGTH,
        required=False,
        validators=[reject_bidi_controls],
        help_text=gettext_lazy("Tests with the same label can be run separately."),
    )
    EXPECTED: ClassVar = ("contains", "lacks", "number", "tolerance", "cites", "calls", "judged")

    def __init__(self, case: TestCase, data: QueryDict | None = None) -> None:
        self.case = case
        self.others: list[dict[str, Any]] = []  # further numbers, which the form doesn't show
        sent = None if data is None else with_plain_newlines(data)
        initial = {"question": case.question, "label": case.label, **self._read_assertions()}
        super().__init__(sent, initial=initial)

    @property
    def expected_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.EXPECTED]

    @cached_property
    def test_data(self) -> TestCaseEntry | None:
        """Return the test case without assertions; None if this release can't read it."""
        if not self.case.question:
            return None
        try:
            return parse_case(as_row(self.case) | {"expect": None})
        except ConfigurationError:
            return None

    @property
    def widget_ids(self) -> list[str]:
        entry = self.test_data
        found = [*entry.widgets, *entry.files] if entry else []
        return [getattr(one, "name" if isinstance(one, FileEntry) else "id") for one in found]

    @property
    def function_names(self) -> list[str]:
        copilot = self.case.copilot
        return [*copilot.tools, *(str(row["name"]) for row in copilot.components), *labels()]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        row = as_row(self.case) | {"question": cleaned["question"], "label": cleaned["label"]}
        row["expect"] = [*self._assertions(cleaned), *self.others]
        if any(self.has_error(name) for name in self.EXPECTED):
            return cleaned
        try:
            cleaned["row"] = parse_case(row).row()
        except ConfigurationError as error:
            raise forms.ValidationError(error.public) from error
        return cleaned

    def save(self) -> TestCase:
        """Save the test case, a new one after the others unless there are too many."""
        fill_case(self.case, self.cleaned_data["row"])
        if self.case._state.adding:
            return save_last(self.case)
        self.case.save()
        return self.case

    def _read_assertions(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for row in self.case.assertions:
            assertion = Assertion.model_validate(row)
            if assertion.kind is not AssertionKind.NUMBER:
                before = found.get(assertion.kind, "")
                found[assertion.kind] = f"{before}\n{assertion.text}".strip()
            elif "number" in found:
                self.others.append(dict(row))
            else:
                found |= {"number": assertion.text, "tolerance": assertion.tolerance}
        return found

    def _assertions(self, cleaned: dict[str, Any]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for kind in AssertionKind:
            if kind is AssertionKind.NUMBER:
                rows += self._number(cleaned)
                continue
            for line in filter(str.strip, cleaned[kind].split("\n")):
                rows.append({kind.value: line.strip()})
        return rows

    def _number(self, cleaned: dict[str, Any]) -> list[dict[str, Any]]:
        if not cleaned["number"]:
            if cleaned["tolerance"] is not None:
                self.add_error("number", _("Enter the number that the tolerance is for."))
            return []
        try:
            row = {"number": parse_number(cleaned["number"])}
        except ConfigurationError as error:
            self.add_error("number", error.public)
            return []
        if cleaned["tolerance"] is not None:
            row["tolerance"] = cleaned["tolerance"]
        return [row]


class ImportForm(Styled, forms.Form):
    file = forms.FileField(
        label=gettext_lazy("CSV file"), widget=forms.FileInput(attrs={"accept": ".csv,text/csv"})
    )

    def clean_file(self) -> list[TestCaseEntry]:
        file = self.cleaned_data["file"]
        if file.size > MAX_CSV_BYTES:
            most = MAX_CSV_BYTES // 1024**2
            raise forms.ValidationError(_("The file is larger than %d MB.") % most)
        try:
            return parse_csv(file.read())
        except ConfigurationError as error:
            raise forms.ValidationError(error.public) from error


class RunForm(Styled, forms.Form):
    cases = forms.ChoiceField(label=gettext_lazy("Tests"), initial=ALL, required=False)
    targets = _boxes(gettext_lazy("Run on"))
    versions = _boxes(gettext_lazy("Earlier versions"))
    models = _boxes(gettext_lazy("Draft with other models"))
    other_provider = forms.ModelChoiceField(
        label=gettext_lazy("Provider"),
        queryset=Provider.objects.all(),
        required=False,
        empty_label=gettext_lazy("The draft's provider"),
    )
    other_model = forms.CharField(
        label=gettext_lazy("Another model ID"), max_length=200, required=False
    )
    judge = forms.ChoiceField(
        label=gettext_lazy("Judge"),
        required=False,
        help_text=gettext_lazy("Model for expectations that are judged by a model."),
    )
    cost_limit = forms.DecimalField(
        label=gettext_lazy("Cost limit per target (US dollars)"),
        min_value=Decimal(0),
        max_digits=COST["max_digits"],
        decimal_places=6,
        required=False,
        help_text=gettext_lazy(
            "No test starts after the limit is reached. Answers without a price don't count."
        ),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def __init__(self, copilot: Copilot, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"targets": [TargetKind.DRAFT]})
        self.copilot = copilot
        fields: Any = self.fields
        live = copilot.live.number if copilot.live else None
        targets = [(TargetKind.DRAFT.value, _("Draft"))]
        if live is not None:
            targets.append((TargetKind.LIVE.value, _("Live v%(number)d") % {"number": live}))
            self.initial["targets"] = [value for value, _label in targets]
        numbers = copilot.versions.exclude(number=live or 0).order_by("-number")
        versions = numbers.values_list("number", flat=True)[:MAX_VERSION_CHOICES]
        rows = TestCase.objects.filter(copilot=copilot).exclude(label="")
        names = rows.order_by("label").values_list("label", flat=True).distinct()
        self.providers = {str(row.pk): row for row in Provider.objects.all()}
        models = [
            (f"{provider.pk}:{model}", f"{model} ({provider.name})")
            for provider in self.providers.values()
            for model in provider.model_ids
        ][:MAX_MODEL_CHOICES]
        fields["targets"].choices = targets
        fields["versions"].choices = [
            (str(one), _("Version %(number)d") % {"number": one}) for one in versions
        ]
        fields["models"].choices = models
        fields["judge"].choices = [("", _("The copilot's own model")), *models]
        fields["cases"].choices = [
            (ALL, _("All tests")),
            *((LABEL + name, _("Label “%s”") % name) for name in names),
        ]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            self.runs = self._make_runs(cleaned)
        except ConfigurationError as error:
            raise forms.ValidationError(error.public) from error
        if not self.runs:
            self.add_error("targets", _("Select at least one target."))
        provider, model = self._model(cleaned["judge"])
        for run in self.runs:
            run.judge_provider, run.judge_model = provider, model
            run.cost_limit = cleaned["cost_limit"]
        return cleaned

    def get_cases(self) -> QuerySet[TestCase]:
        rows = TestCase.objects.filter(copilot=self.copilot)
        chosen: str = self.cleaned_data["cases"]
        return rows.filter(label=chosen.removeprefix(LABEL)) if chosen.startswith(LABEL) else rows

    def _make_runs(self, cleaned: dict[str, Any]) -> list[EvaluationRun]:
        make = partial(make_run, self.copilot)
        models = [self._model(one) for one in cleaned["models"]]
        if cleaned["other_model"]:
            models.append((cleaned["other_provider"], cleaned["other_model"]))
        return [
            *(make(TargetKind(kind)) for kind in cleaned["targets"]),
            *(make(TargetKind.VERSION, version_number=int(one)) for one in cleaned["versions"]),
            *(make(TargetKind.MODEL, provider=one, model=model) for one, model in models),
        ]

    def _model(self, choice: str) -> tuple[Provider | None, str]:
        pk, _colon, model = choice.partition(":")
        return self.providers.get(pk), model


class GateForm(Styled, forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    min_percent = forms.IntegerField(
        label=gettext_lazy("Required pass rate (%)"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=gettext_lazy("Leave blank for no requirement."),
    )
    is_blocking = forms.TypedChoiceField(
        label=gettext_lazy("If the draft does not reach it"),
        choices=[("True", gettext_lazy("Block publishing")), ("False", gettext_lazy("Warn"))],
        coerce=lambda value: value == "True",
    )

    class Meta:
        model = PublishGate
        fields: ClassVar[list[str]] = ["min_percent", "is_blocking"]

    def save_or_delete(self) -> PublishGate | None:
        """Save the gate; delete it if no pass rate is required."""
        if self.cleaned_data["min_percent"] is not None:
            saved: PublishGate = self.save()
            return saved
        PublishGate.objects.filter(copilot=self.instance.copilot).delete()
        return None
