"""Pages of the shell: global search, and the overview of the settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.site.navigation import SECTIONS, Section

MAX_COPILOTS = 8
MAX_SEARCH_LENGTH = 200

# Icon and description of each page of the settings
SETTINGS: Mapping[str, tuple[str, str | Promise]] = {
    "Provider": ("bolt", gettext_lazy("Connect model providers and choose their models.")),
    "ModelPrice": ("dollar", gettext_lazy("Prices per million tokens, for cost and budgets.")),
    "EndpointKey": ("key", gettext_lazy("Keys that apps use to call copilots.")),
    "Limits": ("limit", gettext_lazy("Requests, tokens and cost per minute, day and month.")),
    "Privacy": ("shield", gettext_lazy("Retention, redaction, legal holds and erasure.")),
    "User": ("people", gettext_lazy("People who can sign in, and their roles.")),
    "Group": ("person", gettext_lazy("Roles and their permissions.")),
    "AuditEntry": ("book", gettext_lazy("Who changed what, and when.")),
    "Jobs": ("steps", gettext_lazy("Background jobs that run or wait.")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A result of the global search."""

    label: str
    url: str
    icon: str
    kind: str | Promise = ""


def find(request: HttpRequest, context: dict[str, Any], urls: Mapping[str, str]) -> HttpResponse:
    """Search copilots by name, conversations and pages of the admin."""
    query = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    context |= {"title": _("Find"), "query": query, "results": _find(request, query, urls)}
    is_part = request.headers.get("HX-Request")
    return render(request, "admin/includes/found.html" if is_part else "admin/find.html", context)


def _find(request: HttpRequest, query: str, urls: Mapping[str, str]) -> list[SearchResult]:
    if not query:
        return []
    found: list[SearchResult] = []
    if "Copilot" in urls:
        copilots = reachable(request.user).filter(name__icontains=query).order_by("name")
        found += [
            SearchResult(
                label=one.name,
                url=reverse("admin:copilot_admin_copilot_change", args=[one.pk]),
                icon="copilot",
                kind=_("Copilot"),
            )
            for one in copilots[:MAX_COPILOTS]
        ]
    found += [
        SearchResult(label=str(label), url=urls[name], icon=section.icon, kind=section.label)
        for section in SECTIONS
        for name, label in section.pages.items()
        if name in urls and query.lower() in f"{section.label} {label}".lower()
    ]
    if "Conversation" in urls:
        url = f"{urls['Conversation']}?{urlencode({'q': query})}"
        label = _("Search conversations for “%(query)s”") % {"query": query}
        found.append(SearchResult(label=label, url=url, icon="chat"))
    return found


def settings_overview(
    request: HttpRequest, context: dict[str, Any], urls: Mapping[str, str]
) -> HttpResponse:
    """List the pages of the settings that the user may see."""
    section: Section = next(one for one in SECTIONS if one.key == "settings")
    pages = [
        {"label": label, "url": urls[name], "icon": SETTINGS[name][0], "text": SETTINGS[name][1]}
        for name, label in section.pages.items()
        if name in urls and name in SETTINGS
    ]
    return render(
        request, "admin/settings.html", {**context, "title": _("Settings"), "pages": pages}
    )
