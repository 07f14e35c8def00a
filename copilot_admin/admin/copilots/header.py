"""Sticky header of a copilot's pages: its name, status, actions and tabs."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.images import stored_image
from copilot_admin.copilots.publishing import document_of, document_today
from copilot_admin.copilots.status import CopilotState, status_of
from copilot_admin.models import Copilot
from copilot_admin.transcripts.access import may_read_conversations

NAME = "admin:copilot_admin_copilot"
BUILD, TEST, CONVERSATIONS = "build", "test", "conversations"
ANALYTICS, VERSIONS, SETTINGS = "analytics", "versions", "settings"
_TONES = {
    CopilotState.PUBLISHED: "good",
    CopilotState.CHANGED: "good",
    CopilotState.BROKEN: "bad",
    CopilotState.DRAFT: "info",
}


def build_copilot_header(
    request: HttpRequest, copilot: Copilot, current_tab: str
) -> dict[str, Any]:
    """Return the context of a header for the signed-in user; load `live` with the copilot."""
    found, live = status_of(copilot), copilot.live
    status = str(found.labels.label)
    if live and found.state in (CopilotState.PUBLISHED, CopilotState.CHANGED):
        status = _("Published v%(number)d") % {"number": live.number}
    changes = len(find_changes(document_today(live), document_of(copilot))) if live else 0
    return {
        "copilot": copilot,
        "image": image_url(copilot),
        "status": status,
        "tone": _TONES.get(found.state, ""),
        "problem": found.problem if found.state is CopilotState.BROKEN else "",
        "changes": changes,
        "needs_publishing": live is None or bool(changes),
        "is_in_use": not (copilot.is_archived or copilot.is_being_deleted),
        "tabs": _build_tabs(request.user, copilot),
        "current": current_tab,
    }


def image_url(copilot: Copilot) -> str:
    """Return the URL of the image that this server has; empty if there is none."""
    name = stored_image(copilot.picture)
    if not name:
        return ""
    return f"{reverse(f'{NAME}_image', args=[copilot.pk])}?{urlencode({'v': name[-12:-4]})}"


def _build_tabs(
    user: AbstractBaseUser | AnonymousUser, copilot: Copilot
) -> list[dict[str, str | int]]:
    of_one = urlencode({"copilot": copilot.slug, "from": "copilot"})
    conversations = reverse("admin:copilot_admin_conversation_changelist")
    urls = {
        BUILD: (_("Build"), reverse(f"{NAME}_change", args=[copilot.pk])),
        TEST: (_("Test"), reverse(f"{NAME}_tests", args=[copilot.pk])),
        CONVERSATIONS: (_("Conversations"), f"{conversations}?{of_one}"),
        ANALYTICS: (_("Analytics"), f"{reverse('admin:analytics')}?{of_one}"),
        VERSIONS: (_("Versions"), reverse(f"{NAME}_versions", args=[copilot.pk])),
        SETTINGS: (_("Settings"), reverse(f"{NAME}_settings", args=[copilot.pk])),
    }
    if not may_read_conversations(user):
        del urls[CONVERSATIONS], urls[ANALYTICS]
    counted = {TEST: copilot.test_cases.count()}
    return [
        {"key": key, "label": label, "url": url, "counted": counted.get(key, 0)}
        for key, (label, url) in urls.items()
    ]
