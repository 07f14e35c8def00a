"""The start page: copilots and how they stand, what was asked last, what to do next."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.site.attention import attention
from copilot_admin.admin.site.cards import Overview, looked_after, overview_of
from copilot_admin.admin.site.next_steps import next_steps
from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.models import Conversation

MOST_CONVERSATIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """A conversation on the start page."""

    conversation: Conversation
    url: str


def start_page(request: HttpRequest) -> dict[str, Any]:
    """What the template of the start page needs; each part only for those who may see it."""
    user = request.user
    sees_conversations = user.has_perm("copilot_admin.view_conversation")
    parts: dict[str, Any] = {
        "sees_copilots": user.has_perm("copilot_admin.view_copilot"),
        "may_add": user.has_perm("copilot_admin.add_copilot"),
        "sees_conversations": sees_conversations,
        "recent": _recent() if sees_conversations else [],
        "tiles": [],
    }
    overview = Overview()
    if parts["sees_copilots"]:
        in_use, tag = reachable(user).in_use(), request.GET.get("tag", "")
        overview = overview_of(tagged(in_use, tag) if tag else in_use)
        parts |= {
            "tag": tag,
            "tags": known_tags(in_use),
            "tiles": overview.tiles,
            "n_copilots": len(overview.standings),
        }
    else:
        parts["places"] = looked_after(user)
    return {**parts, "steps": [*attention(user), *next_steps(user, overview)]}


def _recent() -> list[Recent]:
    rows = Conversation.objects.of_callers().select_related("copilot").order_by("-last_at")
    return [
        Recent(conversation=row, url=_conversation_url(row)) for row in rows[:MOST_CONVERSATIONS]
    ]


def _conversation_url(conversation: Conversation) -> str:
    try:
        return reverse("admin:copilot_admin_conversation_change", args=[conversation.pk])
    except NoReverseMatch:
        return ""
