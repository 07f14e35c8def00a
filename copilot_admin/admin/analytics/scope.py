"""Which copilots and days an address asks for, and the addresses of what is behind a figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.datastructures import MultiValueDict

from copilot_admin.analytics.periods import OWN, FiguresPeriod, Span, read_period
from copilot_admin.copilots.tags import tagged
from copilot_admin.models import Copilot, Outcome, Rating
from copilot_admin.transcripts.filter_conditions import find_users

MOST_CHOSEN = 50  # copilots of one address
MS_PER_SECOND = 1000
# Filters of the list for what a figure counts.
_FILTERS: Mapping[str, Mapping[str, str]] = {
    **{one.value: {"outcome": one.value} for one in Outcome},
    **{one.value: {"verdict": one.value} for one in Rating},
    "errors": {"outcome": "any-failed"},
    "up": {"judged": "up"},
    "down": {"judged": "down"},
    "unpriced": {"unpriced": "yes"},
}
_PERIOD = ("days", "since", "until", "by")


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresScope:
    """What a page of figures is about.

    Attributes:
        ids: Of copilots; None: all.
        slugs: Of those that were chosen one by one.
        unknown: What was chosen and is none.
        user: Whose questions alone are counted, as it was typed; empty: everybody's.
        users: Ids of the users that it means; None: everybody.
        list_address: Of the list of conversations; a page has thousands of links into it.
    """

    list_address: str
    period: FiguresPeriod
    ids: tuple[int, ...] | None
    slugs: tuple[str, ...] = ()
    tag: str = ""
    unknown: tuple[str, ...] = ()
    user: str = ""
    users: tuple[int, ...] | None = None

    def link(
        self,
        what: str,
        span: Span,
        *,
        detail: str = "",
        copilot: Copilot | None = None,
        version: int | None = None,
        model: str | None = None,
    ) -> str:
        """Return the list of conversations behind a figure, by the days when they were last active."""
        filters = {
            "copilot": ",".join(self.slugs) if copilot is None else copilot.slug,
            "tag": self.tag,
            "user": self.user,
            "since": f"{span.first:%Y-%m-%d}",
            "until": f"{span.last_day:%Y-%m-%d}",
            "version": str(version or ""),
            "model": model or "",
            **_filters_for(what, detail),
        }
        given = {name: value for name, value in filters.items() if value}
        return f"{self.list_address}?{urlencode(given)}"

    def query(self, *, without: str = "", **changes: str) -> str:
        """The address of the same page with something else, or without one of its copilots."""
        own = [("copilot", slug) for slug in self.slugs if slug != without]
        if self.tag:
            own.append(("tag", self.tag))
        if self.user:
            own.append(("user", self.user))
        if "days" not in changes:
            own += [(name, value) for name, value in self.period_fields if name not in changes]
        return f"?{urlencode([*own, *changes.items()])}"

    @property
    def period_fields(self) -> list[tuple[str, str]]:
        """The period as an address has it."""
        now, by = self.period.now, self.period.by
        asked = [("by", by.value)] if by else []
        if self.period.name != OWN:
            return [("days", self.period.name), *asked]
        return [("since", f"{now.first:%Y-%m-%d}"), ("until", f"{now.last_day:%Y-%m-%d}"), *asked]


def read_scope(given: "MultiValueDict[str, str]", *, at: datetime) -> FiguresScope:
    """Reads an address; what it names and is not there leaves nothing to count."""
    wanted = [slug.strip() for slug in given.getlist("copilot") if slug.strip()][:MOST_CHOSEN]
    tag, user = (_text(given, name) for name in ("tag", "user"))
    rows = Copilot.objects.order_by("pk")
    slugs: tuple[str, ...] = ()
    if wanted:
        by_slug = dict(rows.values_list("slug", "pk"))
        by_name = {name.casefold(): slug for slug, name in rows.values_list("slug", "name")}
        found = [one if one in by_slug else by_name.get(one.casefold(), "") for one in wanted]
        slugs = tuple(dict.fromkeys(filter(None, found)))
        rows = rows.filter(slug__in=slugs)
    if tag:
        rows = tagged(rows, tag)
    ids = tuple(rows.values_list("pk", flat=True)) if wanted or tag else None
    unknown = [one for one, slug in zip(wanted, found, strict=True) if not slug] if wanted else []
    if tag and not ids and not unknown:
        unknown.append(tag)
    return FiguresScope(
        list_address=reverse("admin:copilot_admin_conversation_changelist"),
        period=read_period({name: str(given.get(name) or "") for name in _PERIOD}, at=at),
        ids=ids,
        slugs=slugs,
        tag=tag,
        unknown=tuple(unknown),
        user=user,
        users=tuple(find_users(user)) if user else None,
    )


def _filters_for(what: str, detail: str) -> Mapping[str, str]:
    match what:
        case "error" | "label":
            return {what: detail}
        case "slower":
            return {"ttft-from": f"{max(0, int(detail)) / MS_PER_SECOND:g}"}
    return _FILTERS.get(what, {})


def _text(given: "MultiValueDict[str, str]", name: str) -> str:
    return (given.get(name) or "").strip().replace("\0", "")
