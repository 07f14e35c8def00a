"""The form with the limits of one subject."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.widgets import SearchedOne
from copilot_admin.copilots.fields.options import LIMITS
from copilot_admin.limits.rules import KINDS, LimitMeasure
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.models import EndpointKey, LimitScope
from copilot_admin.models.limits import MOST_DOLLARS, MOST_OF_A_LIMIT

_LEAST_DOLLARS = 0.000001


class LimitsForm(forms.Form):
    """A field for each kind of limit; an empty one is no limit."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for key in LIMITS:
            self.fields[key] = _field(key)

    @property
    def limits(self) -> dict[str, int | float]:
        """What was given, as a row has it."""
        given = {key: self.cleaned_data[key] for key in KINDS}
        return {key: value for key, value in given.items() if value is not None}


class WhomForm(forms.Form):
    """Which copilot or endpoint key is to be limited."""

    whom = forms.ChoiceField(label=_("Copilot or key"), widget=SearchedOne)

    def __init__(self, copilots: Iterable[tuple[int, str]], keys: Iterable[EndpointKey]) -> None:
        super().__init__(auto_id="limit-%s")
        field = cast("forms.ChoiceField", self.fields["whom"])
        field.choices = [
            ("", ""),
            (_("Copilots"), [(f"copilot:{pk}", name) for pk, name in copilots]),
            (_("Endpoint keys"), [(f"key:{key.pk}", str(key)) for key in keys]),
        ]


def note_on(subject: LimitSubject) -> str:
    """What somebody should know who sets limits of this kind."""
    notes = {
        LimitScope.SERVER: _("All questions together, whoever asks."),
        LimitScope.COPILOT: _(
            "All questions to this copilot together. Its file has the same limits."
        ),
        LimitScope.KEY: _("All that is asked with an endpoint key."),
        LimitScope.USER: _("All that one user asks, with whatever key, wherever from."),
        LimitScope.ADDRESS: _(
            "All that comes from one address; of IPv6 from one network of 64 bits. Which address "
            "asked is kept nowhere, so its budgets begin anew with the counters."
        ),
    }
    return str(notes[subject.scope])


def _field(key: str) -> forms.Field:
    label = str(LIMITS[key])
    if KINDS[key].measure is LimitMeasure.USD:
        return forms.FloatField(
            label=label,
            required=False,
            min_value=_LEAST_DOLLARS,
            max_value=MOST_DOLLARS,
            widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
        )
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=MOST_OF_A_LIMIT)
