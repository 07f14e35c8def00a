"""Filters of the analytics page: what a query string asks for, and links that change one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db.models import Q
from django.http import QueryDict
from django.urls import reverse

from copilot_admin.analytics.periods import OWN, Period, read_period
from copilot_admin.analytics.rollups import RollupSource, RunSource, Scope
from copilot_admin.copilots.names import tagged
from copilot_admin.models import Copilot
from copilot_admin.models.copilots import CopilotQuerySet
from copilot_admin.models.fields import MAX_ID, parse_integer
from copilot_admin.transcripts.access import VIEW, readable_copilots
from copilot_admin.transcripts.filters import find_users

CONVERSATIONS = "admin:copilot_admin_conversation_changelist"
PERIOD_NAMES = ("days", "since", "until", "by")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyticsScope:
    period: Period
    traffic: Scope  # the part that is counted
    copilot: Copilot | None = None  # the chosen one, if it is exactly one
    tag: str = ""
    user: str = ""  # text that was typed
    is_compared: bool = True
    given: Mapping[str, str] = field(default_factory=dict)  # accepted parameters, for links
    unknown: tuple[str, ...] = ()  # values that name nothing
    readable: CopilotQuerySet = field(default_factory=Copilot.objects.all)

    @property
    def source(self) -> RollupSource | RunSource:
        return RollupSource(self.traffic) if self.traffic.users is None else RunSource(self.traffic)

    def query(self, **changes: str) -> str:
        """Return the query string with changed parameters; empty ones are left out."""
        given = {**self.given, **changes}
        if "days" in changes:
            given |= {"since": "", "until": "", "by": ""}
        return "?" + urlencode({name: value for name, value in given.items() if value})

    def conversations_url(self, filters: Mapping[str, str]) -> str:
        """Return the list of conversations of this scope, by the days when they were last active."""
        span = self.period.now
        found = {
            "copilot": self.copilot.slug if self.copilot else "",
            "tag": self.tag,
            "version": "" if self.traffic.version is None else str(self.traffic.version),
            "model": self.traffic.model,
            "user": self.user,
            "since": f"{span.first:%Y-%m-%d}",
            "until": f"{span.last_day:%Y-%m-%d}",
            **filters,
        }
        given = urlencode({name: value for name, value in found.items() if value})
        return f"{reverse(CONVERSATIONS)}?{given}"


def read_scope(
    given: QueryDict, user: AbstractUser | AnonymousUser, *, at: datetime
) -> AnalyticsScope:
    """Read a query string; filters with unknown values match nothing."""
    texts = {
        name: given.get(name, "").strip().replace("\0", "")
        for name in (*PERIOD_NAMES, "copilot", "tag", "user", "version", "model", "compare", "from")
    }
    readable, unknown = readable_copilots(user), []
    rows, copilot = readable, None
    if text := texts["copilot"]:
        wanted = Q(slug=text) | Q(name__iexact=text) | Q(pk=parse_integer(text, MAX_ID))
        copilot = rows.filter(wanted).order_by("pk").first()
        rows = rows.filter(pk=copilot.pk) if copilot else rows.none()
        unknown += [] if copilot else [text]
    if tag := texts["tag"]:
        unknown += [] if tagged(readable, tag).exists() else [tag]
        rows = tagged(rows, tag)
    is_limited = bool(text or tag) or not user.has_perm(VIEW)
    users = find_users(texts["user"]) if texts["user"] else None
    unknown += [texts["user"]] if users == [] else []
    version = parse_integer(texts["version"]) if copilot else None
    period = read_period(texts, at=at)
    return AnalyticsScope(
        period=period,
        traffic=Scope(
            copilots=list(rows.order_by("pk").values_list("pk", flat=True)) if is_limited else None,
            version=version,
            model=texts["model"],
            users=users,
        ),
        copilot=copilot,
        tag=texts["tag"],
        user=texts["user"],
        is_compared=texts["compare"] != "no",
        given={
            **texts,
            **_period_names(period),
            "version": "" if version is None else str(version),
        },
        unknown=tuple(unknown),
        readable=readable,
    )


def _period_names(period: Period) -> dict[str, str]:
    by = period.by.value if period.by else ""
    if period.name != OWN:
        return {"days": period.name, "since": "", "until": "", "by": by}
    first, last = period.now.first, period.now.last_day
    return {"days": "", "since": f"{first:%Y-%m-%d}", "until": f"{last:%Y-%m-%d}", "by": by}
