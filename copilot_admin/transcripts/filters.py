"""Filters of the transcript list, shared with saved views, exports and the command line."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time
from math import ceil, floor
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django_filters import DateFilter, Filter, FilterSet, NumberFilter

from copilot_admin.copilots.names import known_tags, tagged
from copilot_admin.models import (
    Assignment,
    Conversation,
    Copilot,
    Mark,
    Outcome,
    Provider,
    Rating,
    ReviewQueue,
    ReviewState,
    SeenKind,
    Verdict,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts import filter_conditions as conditions
from copilot_admin.transcripts.filter_conditions import (
    MAX_CHOICES,
    Choices,
    Label,
    by_number,
    match_among,
    match_any,
    match_runs,
    midnight,
)
from copilot_admin.transcripts.verdicts import labels

FindCondition = Callable[[str], Q | None]

MS_PER_SECOND = 1000
RANGES = (
    ("since", "until"),
    ("tokens-from", "tokens-to"),
    ("cost-from", "cost-to"),
    ("ttft-from", "ttft-to"),
)


class ConditionField(forms.CharField):
    """A choice or typed text, cleaned to its condition on conversations; None is no such value."""

    def __init__(
        self,
        *,
        find: FindCondition,
        choices: Callable[[], Choices],
        hint: Label = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.find, self.choices, self.hint = find, choices, hint

    def clean(self, value: Any) -> Q | None:
        text = super().clean(value)
        if not text:
            return None
        condition = self.find(text)
        if condition is None:
            raise ValidationError(_("Unknown value."))
        return condition


class TypedFilter(Filter):
    """Filter with a text input that suggests values; see `ConditionField`."""

    field_class = ConditionField

    def filter(self, rows: QuerySet[Conversation], condition: Q | None) -> QuerySet[Conversation]:
        return rows if condition is None else rows.filter(condition)


class SelectFilter(TypedFilter):
    def __init__(self, options: Mapping[str, tuple[Label, Q]] | None = None, **kwargs: Any) -> None:
        if options is not None:
            kwargs["find"] = lambda text: options[text][1] if text in options else None
            kwargs["choices"] = lambda: [(value, label) for value, (label, _) in options.items()]
        super().__init__(**kwargs)


class IntegerFilter(NumberFilter):
    field_class = forms.IntegerField

    def get_max_validator(self) -> None:
        """The form field has its own limits."""


class _FilterForm(forms.Form):
    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        for start, end in RANGES:
            first, last = values.get(start), values.get(end)
            if first is not None and last is not None and last < first:
                self.add_error(end, _("The end is before the start."))
        return values


def _yes_or_no(label: Label, **lookup: Any) -> SelectFilter:
    return SelectFilter(
        {"yes": (_("Yes"), Q(**lookup)), "no": (_("No"), ~Q(**lookup))}, label=label
    )


def _limit(kind: type[Filter], label: Label, **kwargs: Any) -> Filter:
    return kind(label=label, min_value=0, **kwargs)


FILTERS: dict[str, Filter] = {
    "copilot": TypedFilter(
        label=_("Copilot"),
        find=lambda text: match_any("copilot_id", conditions.find_copilots(text)),
        choices=conditions.list_copilots,
        hint=_("Name"),
    ),
    "tag": TypedFilter(
        label=_("Tag"),
        find=lambda tag: Q(
            copilot__in=[one.pk for one in tagged(Copilot.objects.all(), tag).only("pk")]
        ),
        choices=lambda: [(tag, tag) for tag in known_tags(Copilot.objects.all())[:MAX_CHOICES]],
    ),
    "version": TypedFilter(
        label=_("Version"),
        find=by_number(lambda number: match_runs(Q(copilot_version__number=number))),
        choices=list,
    ),
    "model": TypedFilter(
        label=_("Model"),
        find=lambda model: match_runs(Q(model=model)),
        choices=conditions.list_seen(SeenKind.MODEL),
    ),
    "provider": TypedFilter(
        label=_("Provider"),
        find=lambda provider: match_runs(Q(provider=provider)),
        choices=lambda: conditions.list_values(Provider.objects.order_by("name"), "name"),
    ),
    "caller": SelectFilter(
        label=_("API key"), find=conditions.match_callers, choices=conditions.list_callers
    ),
    "user": TypedFilter(
        label=_("User"),
        find=lambda text: match_any("user_id", conditions.find_users(text)),
        choices=conditions.list_users,
        hint=_("ID, e-mail or name"),
    ),
    "days": SelectFilter(
        label=_("Period"), find=conditions.match_days, choices=conditions.PERIODS.items
    ),
    "since": DateFilter(
        label=_("From"), method=lambda rows, _, day: rows.filter(last_at__gte=midnight(day))
    ),
    "until": DateFilter(
        label=_("To"),
        method=lambda rows, _, day: rows.filter(last_at__lte=datetime.combine(day, time.max, UTC)),
    ),
    "outcome": SelectFilter(
        {
            **{one.value: (one.label, Q(last_outcome=one.value)) for one in Outcome},
            "any-failed": (_("Any error"), Q(has_error=True)),
        },
        label=_("Outcome"),
    ),
    "error": TypedFilter(
        label=_("Error type"),
        # The first condition matches the index.
        find=lambda code: match_runs(~Q(error_code="") & Q(error_code=code)),
        choices=conditions.list_seen(SeenKind.ERROR),
    ),
    "judged": SelectFilter(
        {
            "down": (_("Thumbs down"), Q(n_down__gt=0)),
            "up": (_("Thumbs up"), Q(n_up__gt=0)),
            "none": (_("None"), Q(n_down=0, n_up=0)),
        },
        label=_("Feedback"),
    ),
    "reason": TypedFilter(
        label=_("Reason"),
        find=conditions.match_reasons,
        choices=conditions.list_seen(SeenKind.REASON),
    ),
    "tokens-from": _limit(IntegerFilter, _("Tokens from"), field_name="tokens", lookup_expr="gte"),
    "tokens-to": _limit(IntegerFilter, _("Tokens to"), field_name="tokens", lookup_expr="lte"),
    "cost-from": _limit(NumberFilter, _("Cost from ($)"), field_name="cost", lookup_expr="gte"),
    "cost-to": _limit(NumberFilter, _("Cost to ($)"), field_name="cost", lookup_expr="lte"),
    "ttft-from": _limit(
        NumberFilter,
        _("First token from (s)"),
        method=lambda rows, _, s: rows.filter(ttft_ms__gte=ceil(s * MS_PER_SECOND)),
    ),
    "ttft-to": _limit(
        NumberFilter,
        _("First token to (s)"),
        method=lambda rows, _, s: rows.filter(ttft_ms__lte=floor(s * MS_PER_SECOND)),
    ),
    "call": _yes_or_no(_("Widget calls"), has_call=True),
    "branch": _yes_or_no(_("Edited questions"), has_branch=True),
    "file": _yes_or_no(_("Files"), has_file=True),
    "unpriced": _yes_or_no(_("Cost unknown"), n_unpriced__gt=0),
    "state": SelectFilter(
        {one.value: (one.label, Q(review_state=one.value)) for one in ReviewState},
        label=_("Review"),
    ),
    "verdict": SelectFilter(
        {
            one.value: (
                one.label,
                match_among(Verdict.objects.filter(rating=one.value), "conversation"),
            )
            for one in Rating
        },
        label=_("Verdict"),
    ),
    "label": SelectFilter(
        label=_("Label"),
        find=by_number(
            lambda pk: match_among(Mark.objects.filter(criterion=pk), "verdict__conversation")
        ),
        choices=lambda: [(str(label.pk), label.name) for label in labels()],
    ),
    "assigned": TypedFilter(
        label=_("Assigned to"),
        find=lambda name: match_among(
            Assignment.objects.filter(
                reviewer__username=name, done_at=None, queue__is_closed=False
            ),
            "conversation",
        ),
        choices=conditions.list_reviewers,
        hint=_("User name"),
    ),
    "queue": SelectFilter(
        label=_("Review queue"),
        find=by_number(lambda pk: match_among(Assignment.objects.filter(queue=pk), "conversation")),
        choices=lambda: [
            (str(one.pk), one.name)
            for one in ReviewQueue.objects.order_by("is_closed", "-id")[:MAX_CHOICES]
        ],
    ),
    "ids": TypedFilter(
        label=_("Selected"), find=conditions.match_ids, choices=list, hint=_("Numbers")
    ),
    "playground": SelectFilter(
        {"with": (_("Include"), Q()), "only": (_("Only"), Q(principal__startswith=PLAYGROUND))},
        label=_("Playground"),
    ),
}


class TranscriptFilters(FilterSet):
    data: Mapping[str, str]
    errors: Mapping[str, list[str]]

    class Meta:
        form = _FilterForm

    @classmethod
    def get_filters(cls) -> dict[str, Filter]:
        return FILTERS

    def apply(self, rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
        """Return the rows that pass all filters; empty if a value is not valid."""
        if self.errors:
            return rows.none()
        filtered: QuerySet[Conversation] = self.filter_queryset(rows)
        if "playground" not in self.data:
            filtered = filtered.exclude(principal__startswith=PLAYGROUND)
        return filtered


def read_filters(given: Mapping[str, str]) -> TranscriptFilters:
    values = {name: text for name in FILTERS if (text := given.get(name, "").strip())}
    return TranscriptFilters(values, queryset=Conversation.objects.all())


def label_value(name: str, value: str) -> Label:
    """Return the label of a filter's value, or the value if it was typed."""
    field = FILTERS[name].field
    choices = dict(field.choices()) if isinstance(field, ConditionField) else {}
    return choices.get(value, value)
