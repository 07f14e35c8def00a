"""The filters of the transcript list: one entry each, with where it is asked and how it narrows.

What a choice lists comes from small tables, never from the log. What is asked of other tables than
`Conversation` is an EXISTS over an index. A filter more is an entry of `FILTERS`; the page, its form,
saved views and the plan tests take it from there.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.models import (
    Copilot,
    EndpointKey,
    EndUser,
    Feedback,
    Mark,
    Outcome,
    Provider,
    ReviewState,
    Run,
    SeenKind,
    SeenValue,
)
from copilot_admin.models.transcripts import PLAYGROUND
from copilot_admin.privacy.finding import called
from copilot_admin.review.counted import counted_condition
from copilot_admin.review.counted_words import counted_words
from copilot_admin.review.filter import Choices, Filter, Index, Label, NoSuchValue, Widget
from copilot_admin.review.verdicts import labels

MOST_CHOICES = 1000  # of one filter; what is beyond can be typed where typing is possible
MOST_USERS = 100  # of one name
LARGEST = 2**31 - 1
MS_PER_SECOND = 1000


def whole_number(text: str) -> int:
    """A number as it is typed.

    Raises:
        NoSuchValue: It is none, or greater than a column takes.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= LARGEST):
        raise NoSuchValue(text)
    return int(text)


def one_of(**conditions: Q) -> Callable[[str], Q]:
    """The condition of each choice."""

    def condition(text: str) -> Q:
        if text not in conditions:
            raise NoSuchValue(text)
        return conditions[text]

    return condition


def _copilot(text: str) -> Q:
    """By its slug, its number, or its name; several by slugs between commas."""
    named = Q(slug=text) | Q(name__iexact=text)
    if text.isascii() and text.isdecimal() and len(text) <= 10:
        named |= Q(pk=int(text))
    found = list(Copilot.objects.filter(named).values_list("pk", flat=True)[:10])
    if not found and "," in text:
        slugs = text.split(",")[:MOST_CHOICES]
        found = list(Copilot.objects.filter(slug__in=slugs).values_list("pk", flat=True))
    if not found:
        raise NoSuchValue(text)
    return Q(copilot_id=found[0]) if len(found) == 1 else Q(copilot_id__in=found)


def _tag(text: str) -> Q:
    """By a tag of the copilot."""
    return Q(copilot__in=[one.pk for one in tagged(Copilot.objects.all(), text).only("pk")])


def _tags() -> Choices:
    return [(one.tag, one.tag) for one in known_tags(Copilot.objects.all())[:MOST_CHOICES]]


def _copilots() -> Choices:
    """The archive last."""
    rows = Copilot.objects.order_by(F("archived_at").asc(nulls_first=True), "name")
    archived = gettext("%(name)s (archived)")
    return [
        (slug, archived % {"name": name} if archived_at else name)
        for slug, name, archived_at in rows.values_list("slug", "name", "archived_at")[
            :MOST_CHOICES
        ]
    ]


def _run(**of_run: object) -> Q:
    return Q(Exists(Run.objects.filter(conversation=OuterRef("pk"), **of_run)))


def _seen(kind: SeenKind) -> Callable[[], Choices]:
    def choices() -> Choices:
        values = SeenValue.objects.filter(kind=kind).order_by("value")
        return [(value, value) for value in values.values_list("value", flat=True)[:MOST_CHOICES]]

    return choices


def _providers() -> Choices:
    names = Provider.objects.order_by("name").values_list("name", flat=True)[:MOST_CHOICES]
    return [(name, name) for name in names]


def _caller(text: str) -> Q:
    if text == "anonymous":
        return Q(principal=text)
    return Q(principal=f"key:{whole_number(text.removeprefix('key:'))}")


def _callers() -> Choices:
    keys = EndpointKey.objects.order_by("name").values_list("pk", "name")[:MOST_CHOICES]
    return [("anonymous", _("Without a key")), *((f"key:{pk}", name) for pk, name in keys)]


def _user(text: str) -> Q:
    found = users_called(text)
    if not found:
        raise NoSuchValue(text)
    return Q(user_id=found[0]) if len(found) == 1 else Q(user_id__in=found)


def users_called(text: str) -> list[int]:
    """The users whom a filter means: by id, address or name, or by what providers are told of them."""
    return list(EndUser.objects.filter(called(text)).values_list("pk", flat=True)[:MOST_USERS])


def _users() -> Choices:
    rows = EndUser.objects.order_by("-last_at")[:MOST_CHOICES]
    return [(user.identifier, str(user)) for user in rows]


def _days(text: str) -> Q:
    if text not in PERIODS:
        raise NoSuchValue(text)
    today = datetime.combine(timezone.now().date(), time.min, UTC)
    return Q(last_at__gte=today - timedelta(days=int(text) - 1))


def _midnight(text: str, *, after: int = 0) -> datetime:
    try:
        day = date.fromisoformat(text) + timedelta(days=after)
    except (ValueError, OverflowError) as error:
        raise NoSuchValue(text) from error
    return datetime.combine(day, time.min, UTC)


def _reason(text: str) -> Q:
    tagged = Feedback.objects.values("turn__conversation_id")
    if connection.vendor == "postgresql":
        return JUDGED & Q(pk__in=tagged.filter(tags__contains=[text]))
    judged = RawSQL(  # what was typed is a parameter
        "SELECT copilot_admin_feedback.id FROM copilot_admin_feedback, "
        "json_each(copilot_admin_feedback.tags) WHERE json_each.value = %s",
        [text],
    )
    return JUDGED & Q(pk__in=tagged.filter(pk__in=judged))  # not an EXISTS: few answers are judged


def _seconds(text: str) -> int:
    try:
        ms = int(float(text.replace(",", ".")) * MS_PER_SECOND)
    except (ValueError, OverflowError) as error:
        raise NoSuchValue(text) from error
    if not 0 <= ms <= LARGEST:
        raise NoSuchValue(text)
    return ms


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text.removeprefix("$").replace(",", "."))
    except InvalidOperation as error:
        raise NoSuchValue(text) from error
    if not (amount.is_finite() and 0 <= amount <= LARGEST and len(text) <= 20):
        raise NoSuchValue(text)
    return amount


def _label(text: str) -> Q:
    """By a label that a reviewer gave; verdicts are few, so the search begins with them."""
    labelled = Mark.objects.filter(criterion=whole_number(text)).order_by()
    return Q(pk__in=labelled.values("verdict__conversation"))


def _counted(text: str) -> Q:
    """By what a figure counted."""
    try:
        return counted_condition(text)
    except ValueError as error:
        raise NoSuchValue(text) from error


# Said beside the reason, it tells PostgreSQL that there are few: it walked along all conversations.
JUDGED = Q(n_up__gt=0) | Q(n_down__gt=0)
PERIODS: Mapping[str, Label] = {
    "1": _("Today"),
    "7": _("Last 7 days"),
    "30": _("Last 30 days"),
    "90": _("Last 90 days"),
}
FILTERS: tuple[Filter, ...] = (
    Filter(
        name="copilot",
        label=_("Copilot"),
        widget=Widget.TYPED,
        condition=_copilot,
        choices=_copilots,
        hint=_("Any; type a name"),
        index=Index.ORDER,
        is_cheap=True,
    ),
    Filter(
        name="tag",
        label=_("Tag"),
        widget=Widget.TYPED,
        condition=_tag,
        choices=_tags,
        hint=_("Any"),
        index=Index.ORDER,
    ),
    Filter(
        name="version",
        label=_("Version"),
        widget=Widget.NUMBER,
        condition=lambda text: _run(copilot_version__number=whole_number(text)),
        hint=_("Any"),
        index=Index.IDS,
        entries=lambda text: Run.objects.filter(copilot_version__number=whole_number(text)),
    ),
    Filter(
        name="model",
        label=_("Model"),
        widget=Widget.TYPED,
        condition=lambda text: _run(model=text),
        choices=_seen(SeenKind.MODEL),
        hint=_("Any"),
        index=Index.IDS,
        entries=lambda text: Run.objects.filter(model=text),
    ),
    Filter(
        name="provider",
        label=_("Provider"),
        widget=Widget.TYPED,
        condition=lambda text: _run(provider=text),
        choices=_providers,
        hint=_("Any"),
        index=Index.IDS,
        entries=lambda text: Run.objects.filter(provider=text),
    ),
    Filter(
        name="caller",
        label=_("Key"),
        widget=Widget.CHOICE,
        condition=_caller,
        choices=_callers,
        index=Index.ORDER,
        is_cheap=True,
    ),
    Filter(
        name="user",
        label=_("User"),
        widget=Widget.TYPED,
        condition=_user,
        choices=_users,
        hint=_("Any; an id, address or name"),
        index=Index.ORDER,
        is_cheap=True,
    ),
    Filter(
        name="days",
        label=_("Period"),
        widget=Widget.CHOICE,
        condition=_days,
        choices=PERIODS.items,
        index=Index.SPAN,
        is_cheap=True,
    ),
    Filter(
        name="since",
        label=_("From"),
        widget=Widget.DATE,
        condition=lambda text: Q(last_at__gte=_midnight(text)),
        index=Index.SPAN,
        is_cheap=True,
    ),
    Filter(
        name="until",
        label=_("To"),
        widget=Widget.DATE,
        condition=lambda text: Q(last_at__lt=_midnight(text, after=1)),
        index=Index.SPAN,
        is_cheap=True,
    ),
    Filter(
        name="outcome",
        label=_("Outcome"),
        widget=Widget.CHOICE,
        condition=one_of(
            **{one.value: Q(last_outcome=one.value) for one in Outcome},
            **{"any-failed": Q(has_error=True)},
        ),
        choices=lambda: [*Outcome.choices, ("any-failed", _("Any answer failed"))],
        index=Index.ORDER,
        common=frozenset({Outcome.COMPLETED.value}),
        is_cheap=True,
    ),
    Filter(
        name="error",
        label=_("Kind of error"),
        widget=Widget.TYPED,
        condition=lambda text: Q(
            Exists(
                Run.objects.filter(~Q(error_code=""), conversation=OuterRef("pk"), error_code=text)
            )
        ),
        choices=_seen(SeenKind.ERROR),
        hint=_("Any"),
        index=Index.IDS,
        entries=lambda text: Run.objects.filter(~Q(error_code=""), error_code=text),
    ),
    Filter(
        name="judged",
        label=_("Thumbs"),
        widget=Widget.CHOICE,
        condition=one_of(down=Q(n_down__gt=0), up=Q(n_up__gt=0), none=Q(n_down=0, n_up=0)),
        choices=lambda: [("down", _("Down")), ("up", _("Up")), ("none", _("None"))],
        index=Index.ORDER,
        common=frozenset({"none"}),
        is_cheap=True,
    ),
    Filter(
        name="reason",
        label=_("Reason"),
        widget=Widget.TYPED,
        condition=_reason,
        choices=_seen(SeenKind.REASON),
        hint=_("Any"),
        index=Index.IDS,
    ),
    Filter(
        name="tokens-from",
        label=_("Tokens from"),
        widget=Widget.NUMBER,
        condition=lambda text: Q(tokens__gte=whole_number(text)),
    ),
    Filter(
        name="tokens-to",
        label=_("Tokens to"),
        widget=Widget.NUMBER,
        condition=lambda text: Q(tokens__lte=whole_number(text)),
    ),
    Filter(
        name="cost-from",
        label=_("Cost from ($)"),
        widget=Widget.NUMBER,
        condition=lambda text: Q(cost__gte=_dollars(text)),
    ),
    Filter(
        name="cost-to",
        label=_("Cost to ($)"),
        widget=Widget.NUMBER,
        condition=lambda text: Q(cost__lte=_dollars(text)),
    ),
    Filter(
        name="ttft-from",
        label=_("First token from (s)"),
        widget=Widget.NUMBER,
        condition=lambda text: Q(ttft_ms__gte=_seconds(text)),
    ),
    Filter(
        name="ttft-to",
        label=_("First token to (s)"),
        widget=Widget.NUMBER,
        condition=lambda text: Q(ttft_ms__lte=_seconds(text)),
    ),
    *(
        Filter(
            name=name,
            label=label,
            widget=Widget.CHOICE,
            condition=one_of(yes=Q(**{f"has_{name}": True}), no=Q(**{f"has_{name}": False})),
            choices=lambda: [("yes", _("Yes")), ("no", _("No"))],
            index=Index.ORDER,
            common=frozenset({"no"}),
            is_cheap=True,
        )
        for name, label in (
            ("call", _("Calls of the client")),
            ("branch", _("Branches")),
            ("file", _("Files")),
        )
    ),
    Filter(
        name="state",
        label=_("Review"),
        widget=Widget.CHOICE,
        condition=one_of(**{one.value: Q(review_state=one.value) for one in ReviewState}),
        choices=lambda: ReviewState.choices,
        index=Index.ORDER,
        common=frozenset({ReviewState.NEW.value}),
        is_cheap=True,
    ),
    Filter(
        name="label",
        label=_("Label"),
        widget=Widget.CHOICE,
        condition=_label,
        choices=lambda: [(str(label.pk), label.name) for label in labels()],
        index=Index.IDS,
    ),
    Filter(
        name="counted",
        label=_("Counted"),
        widget=Widget.LINKED,
        condition=_counted,
        in_words=counted_words,
        index=Index.OWN,
    ),
    Filter(
        name="playground",
        label=_("Playground"),
        widget=Widget.CHOICE,
        condition=one_of(**{"with": Q(), "only": Q(principal__startswith=PLAYGROUND)}),
        choices=lambda: [("with", _("Shown as well")), ("only", _("Alone"))],
        is_cheap=True,
    ),
)
BY_NAME: Mapping[str, Filter] = {one.name: one for one in FILTERS}
