"""Forms of limits: the limits of one subject, and the choice of a subject."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.widgets import SearchedOne
from copilot_admin.copilots.config_form import LIMITS
from copilot_admin.limits.rules import KINDS, LimitMeasure, LimitSubject
from copilot_admin.models import EndpointKey, LimitScope
from copilot_admin.models.limits import MAX_LIMIT, MAX_LIMIT_DOLLARS

_MIN_DOLLARS = 0.000001


class LimitsForm(forms.Form):
    """A field for each kind of limit; empty means unlimited."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for key in LIMITS:
            self.fields[key] = _field(key)

    @property
    def limits(self) -> dict[str, int | float]:
        given = {key: self.cleaned_data[key] for key in KINDS}
        return {key: value for key, value in given.items() if value is not None}


class SubjectForm(forms.Form):
    """Choice of a copilot or endpoint key."""

    whom = forms.ChoiceField(label=_("Copilot or key"), widget=SearchedOne)

    def __init__(self, copilots: Iterable[tuple[int, str]], keys: Iterable[EndpointKey]) -> None:
        super().__init__(auto_id="limit-%s")
        field = cast("forms.ChoiceField", self.fields["whom"])
        field.choices = [
            ("", ""),
            (_("Copilots"), [(f"copilot:{pk}", name) for pk, name in copilots]),
            (_("Endpoint keys"), [(f"key:{key.pk}", str(key)) for key in keys]),
        ]


def get_note(subject: LimitSubject) -> str:
    """Return what the limits of a subject apply to."""
    notes = {
        LimitScope.SERVER: _("All questions together, of all callers."),
        LimitScope.COPILOT: _(
            "All questions to this copilot together. Its file has the same limits."
        ),
        LimitScope.KEY: _("All requests with an endpoint key."),
        LimitScope.USER: _("All requests of one user, with any key and from any address."),
        LimitScope.ADDRESS: _(
            "All requests from one address; for IPv6 from one /64 network. Budgets of addresses are "
            "counted by each worker alone and start again when it restarts."
        ),
    }
    return str(notes[subject.scope])


def _field(key: str) -> forms.Field:
    label = str(LIMITS[key])
    if KINDS[key].measure is LimitMeasure.USD:
        return forms.FloatField(
            label=label,
            required=False,
            min_value=_MIN_DOLLARS,
            max_value=MAX_LIMIT_DOLLARS,
            widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
        )
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=MAX_LIMIT)
