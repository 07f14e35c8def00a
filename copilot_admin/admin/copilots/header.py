"""Sticky header of a copilot's pages: its name, status, actions and tabs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.accounts.members import may_publish
from copilot_admin.copilots.comparison import find_changes
from copilot_admin.copilots.images import stored_image
from copilot_admin.copilots.publishing import document_of, document_today
from copilot_admin.copilots.status import CopilotState, status_of
from copilot_admin.models import Copilot
from copilot_admin.transcripts.access import may_read_conversations

if TYPE_CHECKING:
    from datetime import datetime

NAME = "admin:copilot_admin_copilot"
BUILD, TEST, CONVERSATIONS, ANALYTICS, VERSIONS, SETTINGS = (
    "build",
    "test",
    "conversations",
    "analytics",
    "versions",
    "settings",
)
_TONES = {
    CopilotState.PUBLISHED: "good",
    CopilotState.CHANGED: "good",
    CopilotState.BROKEN: "bad",
    CopilotState.DRAFT: "info",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderTab:
    """One tab under the header; `count` is shown if it isn't zero."""

    label: str | Promise
    url: str
    is_current: bool
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CopilotHeader:
    """Values of the template `copilot/header.html`.

    Attributes:
        tone: Suffix of the chip's class; empty for a neutral one.
        problem: The reason why the live version can't answer.
        changes: Number of fields that differ from the live version.
    """

    copilot: Copilot
    image: str
    status: str
    tone: str
    problem: str
    changes: int
    saved_at: "datetime | None"
    tabs: tuple[HeaderTab, ...]
    may_change: bool
    may_publish: bool
    may_add: bool

    @property
    def is_in_use(self) -> bool:
        return not (self.copilot.is_archived or self.copilot.is_being_deleted)

    @property
    def changes_label(self) -> str:
        return ngettext(
            "%(count)d unpublished change", "%(count)d unpublished changes", self.changes
        ) % {"count": self.changes}

    @property
    def needs_publishing(self) -> bool:
        return self.copilot.live_id is None or bool(self.changes)


def build_copilot_header(request: HttpRequest, copilot: Copilot, current_tab: str) -> CopilotHeader:
    """Return the header of a copilot's page for the signed-in user.

    Args:
        request: Its user decides which tabs and actions are shown.
        copilot: `live` and its provider should be loaded with it.
        current_tab: One of the constants of this module.
    """
    found = status_of(copilot)
    live = copilot.live
    status = str(found.labels.label)
    if live and found.state in (CopilotState.PUBLISHED, CopilotState.CHANGED):
        status = _("Published v%(number)d") % {"number": live.number}
    changes = len(find_changes(document_today(live), document_of(copilot))) if live else 0
    user = request.user
    return CopilotHeader(
        copilot=copilot,
        image=image_url(copilot),
        status=status,
        tone=_TONES.get(found.state, ""),
        problem=found.problem if found.state is CopilotState.BROKEN else "",
        changes=changes,
        saved_at=copilot.updated_at,
        tabs=_build_tabs(user, copilot, current_tab),
        may_change=user.has_perm("copilot_admin.change_copilot"),
        may_publish=may_publish(user),
        may_add=user.has_perm("copilot_admin.add_copilot"),
    )


def image_url(copilot: Copilot) -> str:
    """Return the URL of the image that this server has; empty if there is none."""
    name = stored_image(copilot.picture)
    if not name:
        return ""
    return f"{reverse(f'{NAME}_image', args=[copilot.pk])}?{urlencode({'v': name[-12:-4]})}"


def _build_tabs(
    user: AbstractBaseUser | AnonymousUser, copilot: Copilot, current: str
) -> tuple[HeaderTab, ...]:
    of_one = urlencode({"copilot": copilot.slug, "from": "copilot"})
    may_read = user.has_perm("copilot_admin.view_conversation")  # type: ignore[union-attr]  # users of the admin
    rows: list[tuple[str, str | Promise, str, int]] = [
        (BUILD, gettext_lazy("Build"), reverse(f"{NAME}_change", args=[copilot.pk]), 0),
        (TEST, gettext_lazy("Test"), _tests_url(copilot), copilot.test_cases.count()),
    ]
    if may_read_conversations(user):
        conversations = reverse("admin:copilot_admin_conversation_changelist")
        rows.append((CONVERSATIONS, gettext_lazy("Conversations"), f"{conversations}?{of_one}", 0))
    if may_read:
        rows.append(
            (ANALYTICS, gettext_lazy("Analytics"), f"{reverse('admin:analytics')}?{of_one}", 0)
        )
    rows += [
        (VERSIONS, gettext_lazy("Versions"), reverse(f"{NAME}_versions", args=[copilot.pk]), 0),
        (SETTINGS, gettext_lazy("Settings"), reverse(f"{NAME}_settings", args=[copilot.pk]), 0),
    ]
    return tuple(
        HeaderTab(label=label, url=url, count=number, is_current=key == current)
        for key, label, url, number in rows
    )


def _tests_url(copilot: Copilot) -> str:
    return reverse(f"{NAME}_tests", args=[copilot.pk])
