"""The start page: copilots and how they stand, what was asked last, what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.fields.codecs import image_of
from copilot_admin.copilots.remote_images import stored_image
from copilot_admin.copilots.standing import CopilotState, Standing
from copilot_admin.models import Conversation, Copilot, Provider

MOST_COPILOTS = 12
MOST_CONVERSATIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A copilot on the start page."""

    copilot: Copilot
    standing: Standing
    url: str
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """Something worth doing, with the place to do it."""

    title: str | Promise
    sentence: str | Promise
    url: str
    button: str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """A conversation on the start page."""

    conversation: Conversation
    url: str


def start_page(request: HttpRequest) -> dict[str, Any]:
    """What the template of the start page needs; each part only for those who may see it."""
    user = request.user
    sees_copilots = user.has_perm("copilot_admin.view_copilot")
    tiles = _tiles() if sees_copilots else []
    return {
        "sees_copilots": sees_copilots,
        "may_add": user.has_perm("copilot_admin.add_copilot"),
        "tiles": tiles,
        "more_copilots": sees_copilots and Copilot.objects.count() > len(tiles),
        "sees_conversations": user.has_perm("copilot_admin.view_conversation"),
        "recent": _recent() if user.has_perm("copilot_admin.view_conversation") else [],
        "steps": next_steps(request, tiles),
    }


def next_steps(request: HttpRequest, tiles: Sequence[Tile]) -> list[NextStep]:
    """The steps that lead on from here, most urgent first."""
    user = request.user
    steps: list[NextStep] = []
    if user.has_perm("copilot_admin.add_provider") and not Provider.objects.exists():
        steps.append(
            NextStep(
                title=_("Add a provider"),
                sentence=_("It is where the models are. The rehearsal model needs no key."),
                url=reverse("admin:copilot_admin_provider_add"),
                button=_("Add a provider"),
            )
        )
    if user.has_perm("copilot_admin.change_copilot"):
        steps += [step for tile in tiles if (step := _step_of(tile)) is not None][:3]
    if user.has_perm("copilot_admin.add_copilot") and not tiles and Provider.objects.exists():
        steps.append(
            NextStep(
                title=_("Make your first copilot"),
                sentence=_("A name, a prompt and a model are enough."),
                url=reverse("admin:copilot_admin_copilot_add"),
                button=_("Make a copilot"),
            )
        )
    return steps


def _step_of(tile: Tile) -> NextStep | None:
    match tile.standing.state:
        case CopilotState.BROKEN:
            title, button = _("%(name)s is broken"), _("Mend it")
        case CopilotState.DRAFT:
            title, button = _("%(name)s is only a draft"), _("Finish it")
        case CopilotState.CHANGED:
            title, button = _("%(name)s has unpublished changes"), _("Look at them")
        case CopilotState.DISABLED | CopilotState.PUBLISHED:
            return None
    return NextStep(
        title=title % {"name": tile.copilot.name},
        sentence=tile.standing.sentence,
        url=tile.url,
        button=button,
    )


def _tiles() -> list[Tile]:
    rows = Copilot.objects.select_related("provider", "live", "live__provider")
    return [
        Tile(
            copilot=copilot,
            standing=standing_of(copilot),
            url=reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]),
            image=reverse("admin:copilot_admin_copilot_image", args=[copilot.pk])
            if stored_image(image_of(copilot))
            else "",
        )
        for copilot in rows.order_by("-updated_at")[:MOST_COPILOTS]
    ]


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
