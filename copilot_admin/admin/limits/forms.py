"""Forms of limits: the limits of one subject, and the choice of a subject."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.widgets import SearchedOne
from copilot_admin.limits.rules import (
    KINDS,
    BudgetPeriod,
    LimitKind,
    LimitMeasure,
    LimitSubject,
)
from copilot_admin.models import Conversation, EndpointKey, LimitScope
from copilot_admin.models.usage import MAX_LIMIT, MAX_LIMIT_DOLLARS

_MIN_DOLLARS = 0.000001
USERS_SEEN_WITHIN = timedelta(days=30)
NOTES = {  # what the limits of a subject apply to
    LimitScope.SERVER: _("All questions of all callers together."),
    LimitScope.COPILOT: _("All questions to this copilot together, also in its copilot file."),
    LimitScope.KEY: _("All requests with this key."),
    LimitScope.USER: _("All requests of one user, with any key and from any IP address."),
    LimitScope.ADDRESS: _(
        "All requests from one IP address (IPv6: one /64 network). Each worker counts by itself and "
        "starts again when it restarts."
    ),
}


class LimitsForm(forms.Form):
    """A field for each kind of limit; a blank field means unlimited."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for key, kind in KINDS.items():
            self.fields[key] = _build_field(kind)

    @property
    def limits(self) -> dict[str, int | float]:
        given = {key: self.cleaned_data[key] for key in KINDS}
        return {key: value for key, value in given.items() if value is not None}

    @property
    def rows(self) -> Iterator[tuple[Any, list[forms.BoundField]]]:
        """Fields per minute, day and month of each measure."""
        for measure in (LimitMeasure.REQUESTS, LimitMeasure.TOKENS, LimitMeasure.USD):
            yield measure.label, [self[f"{measure}_per_{one}"] for one in BudgetPeriod]


class SubjectForm(forms.Form):
    whom = forms.ChoiceField(label=_("Copilot or API key"), widget=SearchedOne)

    def __init__(self, copilots: Iterable[tuple[int, str]], keys: Iterable[EndpointKey]) -> None:
        super().__init__(auto_id="limit-%s")
        field = cast("forms.ChoiceField", self.fields["whom"])
        field.choices = [
            ("", _("Select…")),
            (_("Copilots"), [(f"copilot:{pk}", name) for pk, name in copilots]),
            (_("API keys"), [(f"key:{key.pk}", str(key)) for key in keys]),
        ]


def is_without_users(subject: LimitSubject) -> bool:
    """Return whether limits of users apply to nobody: callers didn't say who asks."""
    if subject.scope is not LimitScope.USER:
        return False
    since = timezone.now() - USERS_SEEN_WITHIN
    seen = Conversation.objects.filter(user__isnull=False, last_at__gte=since)
    return not seen.exclude(copilot__is_demo=True).exists()


def _build_field(kind: LimitKind) -> forms.Field:
    if kind.measure is LimitMeasure.USD:
        return forms.FloatField(
            label=kind.label,
            required=False,
            min_value=_MIN_DOLLARS,
            max_value=MAX_LIMIT_DOLLARS,
            widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
        )
    return forms.IntegerField(label=kind.label, required=False, min_value=1, max_value=MAX_LIMIT)
