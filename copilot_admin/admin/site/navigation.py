"""The menu of the admin, the pages of each menu item as tabs, and the global search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import reachable

Text = str | Promise
MAX_COPILOTS = 8
MAX_SEARCH_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Section:
    """A menu item; `pages` maps the names of models and pages to the labels of their tabs."""

    key: str
    label: Text
    icon: str
    pages: Mapping[str, Text]


SECTIONS: Sequence[Section] = (
    Section("copilots", _("Copilots"), "copilot", {"Copilot": _("Copilots")}),
    Section("conversations", _("Conversations"), "chat", {"Conversation": _("Conversations")}),
    Section("analytics", _("Analytics"), "chart", {"Analytics": _("Analytics")}),
    Section(
        "review",
        _("Review"),
        "review",
        {
            "ReviewQueue": _("Queues"),
            "Criterion": _("Labels & scores"),
            "TranscriptExport": _("Exports"),
        },
    ),
    Section("tools", _("Tools"), "tool", {"Component": _("Tools"), "ComponentCall": _("Calls")}),
    Section(
        "alerts",
        _("Alerts"),
        "bell",
        {
            "Alert": _("Alerts"),
            "AlertRule": _("Rules"),
            "AlertDigest": _("Digests"),
            "AlertWebhook": _("Webhooks"),
            "AlertDelivery": _("Deliveries"),
        },
    ),
    Section(
        "settings",
        _("Settings"),
        "gear",
        {
            "Settings": _("Overview"),
            "Provider": _("Models"),
            "ModelPrice": _("Pricing"),
            "EndpointKey": _("API keys"),
            "Limits": _("Limits"),
            "Privacy": _("Privacy"),
            "User": _("Team"),
            "Group": _("Roles"),
            "AuditEntry": _("Audit log"),
            "Jobs": _("Jobs"),
        },
    ),
)


# Icon and description of each page of the settings.
SETTINGS: Mapping[str, tuple[str, Text]] = {
    "Provider": ("bolt", _("Connect model providers and choose their models.")),
    "ModelPrice": ("dollar", _("Prices per million tokens, for cost and budgets.")),
    "EndpointKey": ("key", _("Keys that apps use to call copilots.")),
    "Limits": ("limit", _("Requests, tokens and cost per minute, day and month.")),
    "Privacy": ("shield", _("Retention, redaction, legal holds and erasure.")),
    "User": ("people", _("People who can sign in, and their roles.")),
    "Group": ("person", _("Roles and their permissions.")),
    "AuditEntry": ("book", _("Who changed what, and when.")),
    "Jobs": ("steps", _("Background jobs that run or wait.")),
}


def build_menu(
    urls: Mapping[str, str], *, index_url: str, path: str, counts: Mapping[str, int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the menu for someone who may see these URLs, and the tabs of the current item."""
    is_home = path == index_url
    items = [{"label": _("Home"), "url": index_url, "icon": "home", "is_current": is_home}]
    tabs: list[dict[str, Any]] = []
    for section in SECTIONS:
        visible = {name: urls[name] for name in section.pages if name in urls}
        if not visible.keys() - {"Settings"}:
            continue
        names = (name for name, url in visible.items() if path.startswith(url))
        current = max(names, key=lambda name: len(visible[name]), default=None)
        items.append(
            {
                "label": section.label,
                "url": next(iter(visible.values())),
                "icon": section.icon,
                "is_current": current is not None,
                "count": counts.get(section.key, 0),
            }
        )
        if current is not None and len(visible) > 1:
            tabs = [
                {"label": section.pages[name], "url": url, "is_current": name == current}
                for name, url in visible.items()
            ]
    return items, tabs


def list_settings(urls: Mapping[str, str]) -> list[dict[str, Any]]:
    section = next(one for one in SECTIONS if one.key == "settings")
    return [
        {"label": section.pages[name], "url": urls[name], "icon": icon, "text": text}
        for name, (icon, text) in SETTINGS.items()
        if name in urls
    ]


def find_results(request: HttpRequest, urls: Mapping[str, str]) -> dict[str, Any]:
    query = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    found: list[dict[str, object]] = []
    if query and "Copilot" in urls:
        copilots = reachable(request.user).filter(name__icontains=query).order_by("name")
        for one in copilots[:MAX_COPILOTS]:
            url = reverse("admin:copilot_admin_copilot_change", args=[one.pk])
            found.append(
                {"label": one.name, "url": url, "icon": "copilot", "kind": gettext("Copilot")}
            )
    if query:
        found += [
            {"label": label, "url": urls[name], "icon": section.icon, "kind": section.label}
            for section in SECTIONS
            for name, label in section.pages.items()
            if name in urls and query.lower() in f"{section.label} {label}".lower()
        ]
    if query and "Conversation" in urls:
        url = f"{urls['Conversation']}?{urlencode({'q': query})}"
        label = gettext("Search conversations for “%(query)s”") % {"query": query}
        found.append({"label": label, "url": url, "icon": "chat"})
    return {"query": query, "results": found}
