"""Global search: copilots by name, pages of the admin, and a link to search conversations."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.site.navigation import SECTIONS

MAX_COPILOTS = 8
MAX_SEARCH_LENGTH = 200


def find_results(request: HttpRequest, urls: Mapping[str, str]) -> dict[str, Any]:
    query = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    found: list[dict[str, object]] = []
    if query and "Copilot" in urls:
        copilots = reachable(request.user).filter(name__icontains=query).order_by("name")
        for one in copilots[:MAX_COPILOTS]:
            url = reverse("admin:copilot_admin_copilot_change", args=[one.pk])
            found.append({"label": one.name, "url": url, "icon": "copilot", "kind": _("Copilot")})
    if query:
        found += [
            {"label": label, "url": urls[name], "icon": section.icon, "kind": section.label}
            for section in SECTIONS
            for name, label in section.pages.items()
            if name in urls and query.lower() in f"{section.label} {label}".lower()
        ]
    if query and "Conversation" in urls:
        url = f"{urls['Conversation']}?{urlencode({'q': query})}"
        label = _("Search conversations for “%(query)s”") % {"query": query}
        found.append({"label": label, "url": url, "icon": "chat"})
    return {"query": query, "results": found}
