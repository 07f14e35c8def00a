"""Conditions and choices of the filters of the transcript list; a condition of None has no value."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import (
    Assignment,
    Copilot,
    EndpointKey,
    EndUser,
    Feedback,
    Run,
    SeenKind,
    SeenValue,
)
from copilot_admin.transcripts.end_users import match_users

Label = str | Promise
Choices = Iterable[tuple[str, Label]]

MAX_CHOICES = 1000  # of one filter; further values can be typed if it has a text input
MAX_USERS = 100  # of one name
MAX_INTEGER = 2**31 - 1
MAX_LISTED_RUNS = 5_000  # of a rare value, whose conversations are listed by id
PERIODS: Mapping[str, Label] = {
    "1": _("Today"),
    "7": _("Last 7 days"),
    "30": _("Last 30 days"),
    "90": _("Last 90 days"),
}


def find_copilots(text: str) -> list[int]:
    """Return the ids of copilots with this name or id, or with one of these slugs."""
    name, slugs = text.casefold(), {text, *text.split(",")[:MAX_CHOICES]}
    rows = list(Copilot.objects.order_by("pk").values_list("pk", "slug", "name"))
    found = [pk for pk, slug, known in rows if slug in slugs or known.casefold() == name]
    return found or [pk for pk, _, _ in rows if str(pk) == text]


def find_users(text: str) -> list[int]:
    return list(EndUser.objects.filter(match_users(text)).values_list("pk", flat=True)[:MAX_USERS])


def match_any(field: str, ids: list[int]) -> Q | None:
    """Match one of some ids; None if there is none."""
    # With one value an index returns the rows in the order of the list.
    return Q(**{field: ids[0]} if len(ids) == 1 else {f"{field}__in": ids}) if ids else None


def match_among(rows: "QuerySet[Any]", column: str) -> Q:
    """Match the conversations that a column of other rows names."""
    return Q(pk__in=rows.order_by().values(column))


def match_callers(text: str) -> Q | None:
    if text == "anonymous":
        return Q(principal=text)
    return by_number(lambda number: Q(principal=f"key:{number}"))(text.removeprefix("key:"))


def match_days(text: str) -> Q | None:
    if text not in PERIODS:
        return None
    return Q(last_at__gte=midnight(timezone.now().date()) - timedelta(days=int(text) - 1))


def by_number(match: Callable[[int], Q]) -> Callable[[str], Q | None]:
    """Return a filter by number, which matches nothing for other text."""

    def find(text: str) -> Q | None:
        number = _parse_integer(text)
        return None if number is None else match(number)

    return find


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
        given = feedback.filter(
            pk__in=RawSQL(  # the text is a parameter
                "SELECT copilot_admin_feedback.id FROM copilot_admin_feedback, "
                "json_each(copilot_admin_feedback.tags) WHERE json_each.value = %s",
                [text],
            )
        )
    # The indexes of judged conversations inform PostgreSQL that there are few.
    return (Q(n_up__gt=0) | Q(n_down__gt=0)) & Q(pk__in=given)


def match_ids(text: str) -> Q | None:
    numbers = [_parse_integer(one) for one in text.split(",")[:MAX_CHOICES]]
    return Q(pk__in=[number for number in numbers if number is not None])


def _parse_integer(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        return None
    return number if (number := int(text)) <= MAX_INTEGER else None


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
