"""Filters of the transcript list, which saved views, exports and the command line share."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from math import ceil, floor
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_filters import DateFilter, Filter, FilterSet, NumberFilter

from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.models import (
    Conversation,
    Copilot,
    EndpointKey,
    EndUser,
    Feedback,
    Mark,
    Outcome,
    Provider,
    Rating,
    ReviewState,
    Run,
    SeenKind,
    SeenValue,
    Verdict,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.search.users import match_users
from copilot_admin.transcripts.verdicts import labels

Label = str | Promise
Choices = Iterable[tuple[str, Label]]
FindCondition = Callable[[str], Q | None]

MAX_CHOICES = 1000  # of one filter; further values can be typed where typing is possible
MAX_USERS = 100  # of one name
MAX_INTEGER = 2**31 - 1
MAX_LISTED_RUNS = 5_000  # of a rare value, whose conversations are listed by id
MS_PER_SECOND = 1000
PERIODS: Mapping[str, Label] = {
    "1": _("Today"),
    "7": _("Last 7 days"),
    "30": _("Last 30 days"),
    "90": _("Last 90 days"),
}
RANGES = (
    ("since", "until"),
    ("tokens-from", "tokens-to"),
    ("cost-from", "cost-to"),
    ("ttft-from", "ttft-to"),
)


class ConditionField(forms.CharField):
    """A choice or typed text, cleaned to the condition on conversations that it stands for."""

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
    """Filter with a text input that suggests values.

    Keyword Arguments:
        label, hint: Texts of the input.
        find: Returns the condition for a text, or None if there is no such value.
        choices: Returns the suggestions.
    """

    field_class = ConditionField

    def filter(self, rows: QuerySet[Conversation], condition: Q | None) -> QuerySet[Conversation]:
        return rows if condition is None else rows.filter(condition)


class SelectFilter(TypedFilter):
    """Filter with a select box."""

    def __init__(
        self, conditions: Mapping[str, tuple[Label, Q]] | None = None, **kwargs: Any
    ) -> None:
        if conditions is not None:
            kwargs["find"] = lambda text: conditions[text][1] if text in conditions else None
            kwargs["choices"] = lambda: [(value, label) for value, (label, _) in conditions.items()]
        super().__init__(**kwargs)


class IntegerFilter(NumberFilter):
    """Filter for whole numbers."""

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


def _find_copilots(text: str) -> Q | None:
    name, slugs = text.casefold(), {text, *text.split(",")[:MAX_CHOICES]}
    rows = list(Copilot.objects.order_by("pk").values_list("pk", "slug", "name"))
    found = [pk for pk, slug, known in rows if slug in slugs or known.casefold() == name]
    return _any_of("copilot_id", found or [pk for pk, _, _ in rows if str(pk) == text])


def _find_users(text: str) -> Q | None:
    return _any_of("user_id", find_users(text))


def find_users(text: str) -> list[int]:
    """Return the ids of the users that a text means: id, address, name, or the hash for providers."""
    return list(EndUser.objects.filter(match_users(text)).values_list("pk", flat=True)[:MAX_USERS])


def _any_of(field: str, ids: list[int]) -> Q | None:
    if not ids:
        return None
    # With one value the rows come from an index in the order of the list.
    return Q(**{field: ids[0]}) if len(ids) == 1 else Q(**{f"{field}__in": ids})


def _find_callers(text: str) -> Q | None:
    if text == "anonymous":
        return Q(principal=text)
    number = _parse_integer(text.removeprefix("key:"))
    return None if number is None else Q(principal=f"key:{number}")


def _find_days(text: str) -> Q | None:
    if text not in PERIODS:
        return None
    return Q(last_at__gte=_midnight(timezone.now().date()) - timedelta(days=int(text) - 1))


def _find_versions(text: str) -> Q | None:
    number = _parse_integer(text)
    return None if number is None else _with_run(Q(copilot_version__number=number))


def _with_run(run: Q) -> Q:
    """Match conversations with such a run: by id if these runs are few, else one by one."""
    runs: QuerySet[Run, Any] = Run.objects.filter(run).order_by()
    ids = list(runs.values_list("conversation", flat=True)[: MAX_LISTED_RUNS + 1])
    if len(ids) <= MAX_LISTED_RUNS:
        return Q(pk__in=set(ids) - {None})
    runs = runs.filter(conversation=OuterRef("pk"))
    if connection.vendor == "postgresql":
        # It turns a plain EXISTS into a join with all runs of all time; a grouped one stays a lookup.
        runs = runs.values("conversation").annotate(number=Count("pk")).filter(number__gt=0)
    return Q(Exists(runs))


def _find_reasons(text: str) -> Q:
    feedback = Feedback.objects.values("turn__conversation_id")
    if connection.vendor == "postgresql":
        given = feedback.filter(tags__contains=[text])
    else:
        given = feedback.filter(
            pk__in=RawSQL(  # the text is a parameter
                "SELECT copilot_admin_feedback.id FROM copilot_admin_feedback, "
                "json_each(copilot_admin_feedback.tags) WHERE json_each.value = %s",
                [text],
            )
        )
    # The indexes of judged conversations tell PostgreSQL that there are few.
    return (Q(n_up__gt=0) | Q(n_down__gt=0)) & Q(pk__in=given)


def _find_labels(text: str) -> Q | None:
    number = _parse_integer(text)
    if number is None:
        return None
    marks = Mark.objects.filter(criterion=number)
    return Q(pk__in=marks.order_by().values("verdict__conversation"))


def _find_verdicts(text: str) -> Q | None:
    if text not in Rating.values:
        return None
    rated = Verdict.objects.filter(rating=text)
    return Q(pk__in=rated.order_by().values("conversation"))


def _parse_integer(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        return None
    return number if (number := int(text)) <= MAX_INTEGER else None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _list_copilots() -> Choices:
    rows = Copilot.objects.order_by(F("archived_at").asc(nulls_first=True), "name")
    archived = gettext("%(name)s (archived)")
    return [
        (slug, archived % {"name": name} if archived_at else name)
        for slug, name, archived_at in rows.values_list("slug", "name", "archived_at")[:MAX_CHOICES]
    ]


def _list_tags() -> Choices:
    return [(one.tag, one.tag) for one in known_tags(Copilot.objects.all())[:MAX_CHOICES]]


def _list_providers() -> Choices:
    names = Provider.objects.order_by("name").values_list("name", flat=True)[:MAX_CHOICES]
    return [(name, name) for name in names]


def _list_callers() -> Choices:
    keys = EndpointKey.objects.order_by("name").values_list("pk", "name")[:MAX_CHOICES]
    return [("anonymous", _("Without a key")), *((f"key:{pk}", name) for pk, name in keys)]


def _list_users() -> Choices:
    rows = EndUser.objects.order_by("-last_at").values_list("identifier", "name", "email")
    return [(known, name or email or known) for known, name, email in rows[:MAX_CHOICES]]


def _list_seen(kind: SeenKind) -> Callable[[], Choices]:
    def choices() -> Choices:
        values = SeenValue.objects.filter(kind=kind).order_by("value")
        return [(value, value) for value in values.values_list("value", flat=True)[:MAX_CHOICES]]

    return choices


def _yes_or_no(label: Label, **lookup: Any) -> SelectFilter:
    return SelectFilter(
        {"yes": (_("Yes"), Q(**lookup)), "no": (_("No"), ~Q(**lookup))}, label=label
    )


def _filter_since(rows: QuerySet[Conversation], _name: str, day: date) -> QuerySet[Conversation]:
    return rows.filter(last_at__gte=_midnight(day))


def _filter_until(rows: QuerySet[Conversation], _name: str, day: date) -> QuerySet[Conversation]:
    return rows.filter(last_at__lte=datetime.combine(day, time.max, UTC))


FILTERS: dict[str, Filter] = {
    "copilot": TypedFilter(
        label=_("Copilot"), find=_find_copilots, choices=_list_copilots, hint=_("Any; type a name")
    ),
    "tag": TypedFilter(
        label=_("Tag"),
        find=lambda tag: Q(copilot__in=[one.pk for one in tagged(Copilot.objects.all(), tag)]),
        choices=_list_tags,
        hint=_("Any"),
    ),
    "version": TypedFilter(label=_("Version"), find=_find_versions, choices=list, hint=_("Any")),
    "model": TypedFilter(
        label=_("Model"),
        find=lambda model: _with_run(Q(model=model)),
        choices=_list_seen(SeenKind.MODEL),
        hint=_("Any"),
    ),
    "provider": TypedFilter(
        label=_("Provider"),
        find=lambda provider: _with_run(Q(provider=provider)),
        choices=_list_providers,
        hint=_("Any"),
    ),
    "caller": SelectFilter(label=_("Key"), find=_find_callers, choices=_list_callers),
    "user": TypedFilter(
        label=_("User"),
        find=_find_users,
        choices=_list_users,
        hint=_("Any; an id, address or name"),
    ),
    "days": SelectFilter(label=_("Period"), find=_find_days, choices=PERIODS.items),
    "since": DateFilter(label=_("From"), method=_filter_since),
    "until": DateFilter(label=_("To"), method=_filter_until),
    "outcome": SelectFilter(
        {
            **{one.value: (one.label, Q(last_outcome=one.value)) for one in Outcome},
            "any-failed": (_("Any answer failed"), Q(has_error=True)),
        },
        label=_("Outcome"),
    ),
    "error": TypedFilter(
        label=_("Kind of error"),
        # The first condition is that of the index.
        find=lambda code: _with_run(~Q(error_code="") & Q(error_code=code)),
        choices=_list_seen(SeenKind.ERROR),
        hint=_("Any"),
    ),
    "judged": SelectFilter(
        {
            "down": (_("Down"), Q(n_down__gt=0)),
            "up": (_("Up"), Q(n_up__gt=0)),
            "none": (_("None"), Q(n_down=0, n_up=0)),
        },
        label=_("Thumbs"),
    ),
    "reason": TypedFilter(
        label=_("Reason"),
        find=_find_reasons,
        choices=_list_seen(SeenKind.REASON),
        hint=_("Any"),
    ),
    "tokens-from": IntegerFilter(
        label=_("Tokens from"), field_name="tokens", lookup_expr="gte", min_value=0
    ),
    "tokens-to": IntegerFilter(
        label=_("Tokens to"), field_name="tokens", lookup_expr="lte", min_value=0
    ),
    "cost-from": NumberFilter(
        label=_("Cost from ($)"), field_name="cost", lookup_expr="gte", min_value=0
    ),
    "cost-to": NumberFilter(
        label=_("Cost to ($)"), field_name="cost", lookup_expr="lte", min_value=0
    ),
    "ttft-from": NumberFilter(
        label=_("First token from (s)"),
        method=lambda rows, _, s: rows.filter(ttft_ms__gte=ceil(s * MS_PER_SECOND)),
        min_value=0,
    ),
    "ttft-to": NumberFilter(
        label=_("First token to (s)"),
        method=lambda rows, _, s: rows.filter(ttft_ms__lte=floor(s * MS_PER_SECOND)),
        min_value=0,
    ),
    "call": _yes_or_no(_("Calls of the client"), has_call=True),
    "branch": _yes_or_no(_("Branches"), has_branch=True),
    "file": _yes_or_no(_("Files"), has_file=True),
    "unpriced": _yes_or_no(_("Unknown cost"), n_unpriced__gt=0),
    "state": SelectFilter(
        {one.value: (one.label, Q(review_state=one.value)) for one in ReviewState},
        label=_("Review"),
    ),
    "verdict": SelectFilter(
        label=_("Verdict"), find=_find_verdicts, choices=lambda: Rating.choices
    ),
    "label": SelectFilter(
        label=_("Label"),
        find=_find_labels,
        choices=lambda: [(str(label.pk), label.name) for label in labels()],
    ),
    "playground": SelectFilter(
        {
            "with": (_("Shown as well"), Q()),
            "only": (_("Alone"), Q(principal__startswith=PLAYGROUND)),
        },
        label=_("Playground"),
    ),
}


class TranscriptFilters(FilterSet):
    """The filters of a URL."""

    data: Mapping[str, str]
    errors: Mapping[str, list[str]]

    class Meta:
        form = _FilterForm

    @classmethod
    def get_filters(cls) -> dict[str, Filter]:
        return FILTERS

    def apply(self, rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
        """Return the rows that pass all filters; none if a value is not valid."""
        if self.errors:
            return rows.none()
        filtered: QuerySet[Conversation] = self.filter_queryset(rows)
        if "playground" not in self.data:
            filtered = filtered.exclude(principal__startswith=PLAYGROUND)
        return filtered


def read_filters(given: Mapping[str, str]) -> TranscriptFilters:
    """Read the filters among the parameters of a URL."""
    values = {name: text for name in FILTERS if (text := given.get(name, "").strip())}
    return TranscriptFilters(values, queryset=Conversation.objects.all())


def label_value(name: str, value: str) -> Label:
    """Return the label of a filter's value, or the value itself if it was typed."""
    field = FILTERS[name].field
    choices = dict(field.choices()) if isinstance(field, ConditionField) else {}
    return choices.get(value, value)
