"""Filters of the transcript list, shared with saved views, exports and the command line."""

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

from copilot_admin.copilots.names import known_tags, tagged
from copilot_admin.models import (
    Assignment,
    Conversation,
    Copilot,
    EndpointKey,
    EndUser,
    Feedback,
    Mark,
    Outcome,
    Provider,
    Rating,
    ReviewQueue,
    ReviewState,
    Run,
    SeenKind,
    SeenValue,
    Verdict,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.models.fields import parse_integer
from copilot_admin.transcripts.end_users import match_users
from copilot_admin.transcripts.verdicts import labels

Label = str | Promise
Choices = Iterable[tuple[str, Label]]

MAX_CHOICES = 1000  # of one filter; further values can be typed if it has a text input
MAX_USERS = 100  # of one name
MAX_SIMILAR_USERS = 10  # whose names contain a text: analytics read all their requests
MAX_LISTED_RUNS = 5_000  # of a rare value, whose conversations are listed by id
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


def find_copilots(text: str) -> list[int]:
    """Return the ids of copilots with this name or id, or with one of these slugs."""
    name, slugs = text.casefold(), {text, *text.split(",")[:MAX_CHOICES]}
    rows = list(Copilot.objects.order_by("pk").values_list("pk", "slug", "name"))
    found = [pk for pk, slug, known in rows if slug in slugs or known.casefold() == name]
    return found or [pk for pk, _, _ in rows if str(pk) == text]


def find_users(text: str) -> list[int]:
    """Return the ids of users that match a text, else of the few whose names contain it."""
    rows = EndUser.objects.values_list("pk", flat=True)
    if found := list(rows.filter(match_users(text))[:MAX_USERS]):
        return found
    similar = list(rows.filter(name__icontains=text)[: MAX_SIMILAR_USERS + 1])
    return similar if len(similar) <= MAX_SIMILAR_USERS else []


def match_any(field: str, ids: list[int]) -> Q | None:
    """Match one of some ids; None if there is none."""
    # With one value an index returns the rows in the order of the list.
    return Q(**{field: ids[0]} if len(ids) == 1 else {f"{field}__in": ids}) if ids else None


def match_among(rows: "QuerySet[Any]", column: str) -> Q:
    """Match the conversations that a column of other rows names."""
    return Q(pk__in=rows.order_by().values(column))


def match_callers(text: str) -> Q | None:
    number = parse_integer(text.removeprefix("key:"))
    is_known = text == "anonymous" or number is not None
    return Q(principal=text if number is None else f"key:{number}") if is_known else None


def match_days(text: str) -> Q | None:
    today = midnight(timezone.now().date())
    return Q(last_at__gte=today - timedelta(days=int(text) - 1)) if text in PERIODS else None


def by_number(match: Callable[[int], Q]) -> Callable[[str], Q | None]:
    """Return a filter by number, which matches nothing for other text."""
    return lambda text: None if (number := parse_integer(text)) is None else match(number)


def match_runs(run: Q) -> Q:
    """Match conversations with such a run: by id if there are few, else one by one."""
    runs: QuerySet[Run, Any] = Run.objects.filter(run).order_by()
    ids = list(runs.values_list("conversation", flat=True)[: MAX_LISTED_RUNS + 1])
    if len(ids) <= MAX_LISTED_RUNS:
        return Q(pk__in=set(ids) - {None})
    runs = runs.filter(conversation=OuterRef("pk"))
    if connection.vendor == "postgresql":
        # PostgreSQL turns a plain EXISTS into a join with all runs; a grouped one remains a lookup.
        runs = runs.values("conversation").annotate(number=Count("pk")).filter(number__gt=0)
    return Q(Exists(runs))


def match_reasons(text: str) -> Q:
    feedback = Feedback.objects.values("turn__conversation_id")
    if connection.vendor == "postgresql":
        given = feedback.filter(tags__contains=[text])
    else:
        sql = (
            "SELECT copilot_admin_feedback.id FROM copilot_admin_feedback, "
            "json_each(copilot_admin_feedback.tags) WHERE json_each.value = %s"
        )
        given = feedback.filter(pk__in=RawSQL(sql, [text]))  # noqa: S611  # a parameter
    # The indexes of judged conversations inform PostgreSQL that there are few.
    return (Q(n_up__gt=0) | Q(n_down__gt=0)) & Q(pk__in=given)


def match_ids(text: str) -> Q:
    numbers = map(parse_integer, text.split(",")[:MAX_CHOICES])
    return Q(pk__in=[number for number in numbers if number is not None])


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def list_copilots() -> Choices:
    rows = Copilot.objects.order_by(F("archived_at").asc(nulls_first=True), "name")
    archived = gettext("%(name)s (archived)")
    return [
        (slug, archived % {"name": name} if archived_at else name)
        for slug, name, archived_at in rows.values_list("slug", "name", "archived_at")[:MAX_CHOICES]
    ]


def list_values(rows: "QuerySet[Any]", column: str) -> Choices:
    return [(value, value) for value in rows.values_list(column, flat=True)[:MAX_CHOICES]]


def list_seen(kind: SeenKind) -> Callable[[], Choices]:
    return lambda: list_values(SeenValue.objects.filter(kind=kind).order_by("value"), "value")


def list_callers() -> Choices:
    keys = EndpointKey.objects.order_by("name").values_list("pk", "name")[:MAX_CHOICES]
    return [("anonymous", _("Without a key")), *((f"key:{pk}", name) for pk, name in keys)]


def list_reviewers() -> Choices:
    waiting = Assignment.objects.filter(done_at=None, reviewer__isnull=False)
    return list_values(waiting.order_by("reviewer__username").distinct(), "reviewer__username")


def list_users() -> Choices:
    rows = EndUser.objects.order_by("-last_at").values_list("identifier", "name", "email")
    return [(known, name or email or known) for known, name, email in rows[:MAX_CHOICES]]


FindCondition = Callable[[str], Q | None]
ListChoices = Callable[[], Choices]


class ConditionField(forms.CharField):
    """A choice or typed text, cleaned to its condition on conversations; None is no such value."""

    def __init__(
        self, *, find: FindCondition, choices: ListChoices, hint: Label = "", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.find, self.choices, self.hint = find, choices, hint

    def clean(self, value: Any) -> Q | None:
        text = super().clean(value)
        condition = self.find(text) if text else None
        if text and condition is None:
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


FILTERS: dict[str, Filter] = {
    "copilot": TypedFilter(
        label=_("Copilot"),
        find=lambda text: match_any("copilot_id", find_copilots(text)),
        choices=list_copilots,
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
        choices=list_seen(SeenKind.MODEL),
    ),
    "provider": TypedFilter(
        label=_("Provider"),
        find=lambda provider: match_runs(Q(provider=provider)),
        choices=lambda: list_values(Provider.objects.order_by("name"), "name"),
    ),
    "caller": SelectFilter(label=_("API key"), find=match_callers, choices=list_callers),
    "user": TypedFilter(
        label=_("User"),
        find=lambda text: match_any("user_id", find_users(text)),
        choices=list_users,
        hint=_("ID, e-mail or name"),
    ),
    "days": SelectFilter(label=_("Period"), find=match_days, choices=PERIODS.items),
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
        choices=list_seen(SeenKind.ERROR),
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
        label=_("Reason"), find=match_reasons, choices=list_seen(SeenKind.REASON)
    ),
    "tokens-from": IntegerFilter("tokens", "gte", label=_("Tokens from"), min_value=0),
    "tokens-to": IntegerFilter("tokens", "lte", label=_("Tokens to"), min_value=0),
    "cost-from": NumberFilter("cost", "gte", label=_("Cost from ($)"), min_value=0),
    "cost-to": NumberFilter("cost", "lte", label=_("Cost to ($)"), min_value=0),
    "ttft-from": NumberFilter(
        label=_("First token from (s)"),
        min_value=0,
        method=lambda rows, _, seconds: rows.filter(ttft_ms__gte=ceil(seconds * 1000)),
    ),
    "ttft-to": NumberFilter(
        label=_("First token to (s)"),
        min_value=0,
        method=lambda rows, _, seconds: rows.filter(ttft_ms__lte=floor(seconds * 1000)),
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
        choices=list_reviewers,
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
    "ids": TypedFilter(label=_("Selected"), find=match_ids, choices=list, hint=_("Numbers")),
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
