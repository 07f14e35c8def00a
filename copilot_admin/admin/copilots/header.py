"""Sticky header of a copilot's pages: its name, status, actions and tabs."""

from dataclasses import dataclass
from typing import NamedTuple
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


class HeaderTab(NamedTuple):
    """One tab under the header; `counted` is shown if it isn't zero."""

    key: str
    label: str
    url: str
    counted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CopilotHeader:
    copilot: Copilot
    image: str
    status: str
    tone: str  # suffix of the chip's class; empty for a neutral one
    problem: str  # why the live version can't answer
    changes: int  # fields that differ from the live version
    tabs: list[HeaderTab]
    current: str

    @property
    def is_in_use(self) -> bool:
        return not (self.copilot.is_archived or self.copilot.is_being_deleted)

    @property
    def needs_publishing(self) -> bool:
        return self.copilot.live_id is None or bool(self.changes)


def build_copilot_header(request: HttpRequest, copilot: Copilot, current_tab: str) -> CopilotHeader:
    """Return the header of a copilot's page for the signed-in user; load `live` with it."""
    found, live, user = status_of(copilot), copilot.live, request.user
    status = str(found.labels.label)
    if live and found.state in (CopilotState.PUBLISHED, CopilotState.CHANGED):
        status = _("Published v%(number)d") % {"number": live.number}
    return CopilotHeader(
        copilot=copilot,
        image=image_url(copilot),
        status=status,
        tone=_TONES.get(found.state, ""),
        problem=found.problem if found.state is CopilotState.BROKEN else "",
        changes=len(find_changes(document_today(live), document_of(copilot))) if live else 0,
        tabs=_build_tabs(user, copilot),
        current=current_tab,
    )


def image_url(copilot: Copilot) -> str:
    """Return the URL of the image that this server has; empty if there is none."""
    name = stored_image(copilot.picture)
    if not name:
        return ""
    return f"{reverse(f'{NAME}_image', args=[copilot.pk])}?{urlencode({'v': name[-12:-4]})}"


def _build_tabs(user: AbstractBaseUser | AnonymousUser, copilot: Copilot) -> list[HeaderTab]:
    def url(page: str) -> str:
        return reverse(f"{NAME}_{page}", args=[copilot.pk])

    of_one = urlencode({"copilot": copilot.slug, "from": "copilot"})
    tabs = [
        HeaderTab(BUILD, _("Build"), url("change")),
        HeaderTab(TEST, _("Test"), url("tests"), copilot.test_cases.count()),
    ]
    if may_read_conversations(user):
        conversations = reverse("admin:copilot_admin_conversation_changelist")
        tabs.append(HeaderTab(CONVERSATIONS, _("Conversations"), f"{conversations}?{of_one}"))
    if user.has_perm("copilot_admin.view_conversation"):  # type: ignore[union-attr]  # users of the admin
        analytics = reverse("admin:analytics")
        tabs.append(HeaderTab(ANALYTICS, _("Analytics"), f"{analytics}?{of_one}"))
    tabs.append(HeaderTab(VERSIONS, _("Versions"), url("versions")))
    return [*tabs, HeaderTab(SETTINGS, _("Settings"), url("settings"))]
