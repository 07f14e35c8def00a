"""Filters by who asked: with which key, which user, or a builder who tried."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import EndpointKey, EndUser
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.filters.choices import MOST_CHOICES, one_of, whole_number
from copilot_admin.transcripts.filters.filter import (
    Choices,
    FilterControl,
    Index,
    NoSuchValue,
    TranscriptFilter,
)
from copilot_admin.transcripts.search.users import called

MOST_USERS = 100  # of one name


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
    rows = EndUser.objects.order_by("-last_at").values_list("identifier", "name", "email")
    return [(known, name or email or known) for known, name, email in rows[:MOST_CHOICES]]


ASKERS: tuple[TranscriptFilter, ...] = (
    TranscriptFilter(
        name="caller",
        label=_("Key"),
        widget=FilterControl.CHOICE,
        condition=_caller,
        choices=_callers,
        index=Index.ORDER,
        is_cheap=True,
    ),
    TranscriptFilter(
        name="user",
        label=_("User"),
        widget=FilterControl.TYPED,
        condition=_user,
        choices=_users,
        hint=_("Any; an id, address or name"),
        index=Index.ORDER,
        is_cheap=True,
    ),
)
TRIALS = TranscriptFilter(
    name="playground",
    label=_("Playground"),
    widget=FilterControl.CHOICE,
    condition=one_of(**{"with": Q(), "only": Q(principal__startswith=PLAYGROUND)}),
    choices=lambda: [("with", _("Shown as well")), ("only", _("Alone"))],
    is_cheap=True,
)
