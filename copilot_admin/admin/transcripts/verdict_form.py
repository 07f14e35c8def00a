"""The form of a verdict: a rating, the team's labels and scores, a comment."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Criterion, CriterionKind, Rating, Verdict
from copilot_admin.transcripts.verdicts import GivenVerdict

LONGEST_COMMENT = 20_000  # characters
LABEL_KEYS = "4567890"  # of the keyboard; those before are of the rating


class RatingKeys(forms.RadioSelect):
    """Each rating has the key of its place."""

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option: dict[str, Any] = super().create_option(*args, **kwargs)
        option["attrs"]["data-key"] = str(int(option["index"]) + 1)
        return option


class VerdictForm(forms.Form):
    """What a reviewer says of a conversation or a turn."""

    rating = forms.ChoiceField(
        label=_("Verdict"),
        choices=Rating.choices,
        widget=RatingKeys,
        error_messages={"required": _("Choose good, mixed or bad.")},
    )
    comment = forms.CharField(
        label=_("Comment"),
        required=False,
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(
            attrs={"rows": 3, "dir": "auto", "data-key": "c", "data-focus-only": True}
        ),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        criteria: Sequence[Criterion],
        verdict: Verdict | None = None,
    ) -> None:
        super().__init__(data, initial=_initial(verdict))
        self._criteria = criteria
        for criterion in criteria:
            self.fields[_name(criterion)] = _field(criterion)

    @property
    def labels(self) -> list[tuple[forms.BoundField, str]]:
        """The fields of the labels, with the key that each of the first ones has."""
        chosen = [one for one in self._criteria if one.kind == CriterionKind.LABEL]
        keys = [*LABEL_KEYS, *("" for _ in chosen)]
        return [(self[_name(one)], key) for one, key in zip(chosen, keys, strict=False)]

    @property
    def scores(self) -> list[forms.BoundField]:
        """The fields of the scores."""
        chosen = [one for one in self._criteria if one.kind == CriterionKind.SCORE]
        return [self[_name(one)] for one in chosen]

    def judged(self) -> GivenVerdict:
        """The verdict of a valid form."""
        values = {one.pk: self.cleaned_data[_name(one)] for one in self._criteria}
        return GivenVerdict(
            rating=self.cleaned_data["rating"],
            comment=self.cleaned_data["comment"],
            marks={pk: int(value) for pk, value in values.items() if value not in (False, None)},
        )


def _name(criterion: Criterion) -> str:
    return f"criterion_{criterion.pk}"


def _field(criterion: Criterion) -> forms.Field:
    words: dict[str, Any] = {
        "label": criterion.name,
        "help_text": criterion.help,
        "required": False,
    }
    if criterion.kind == CriterionKind.LABEL:
        return forms.BooleanField(**words)
    values = range(criterion.lowest, criterion.highest + 1)
    return forms.TypedChoiceField(
        **words,
        choices=[("", "–"), *((str(value), str(value)) for value in values)],  # noqa: RUF001  # a dash
        coerce=int,
        empty_value=None,
    )


def _initial(verdict: Verdict | None) -> dict[str, object]:
    if verdict is None:
        return {}
    marks = {f"criterion_{mark.criterion_id}": mark.value for mark in verdict.marks.all()}
    return {"rating": verdict.rating, "comment": verdict.comment, **marks}
