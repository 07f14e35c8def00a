"""The start page: copilots and how they stand, what was asked last, what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Subquery, Sum
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.fields.codecs import image_of
from copilot_admin.copilots.remote_images import stored_image
from copilot_admin.copilots.standing import CopilotState, Standing
from copilot_admin.models import Conversation, Copilot, DailyUsage, Provider

MOST_COPILOTS = 12
MOST_CONVERSATIONS = 8
DAYS = 7  # that "this week" is, today included
URGENCY = (
    CopilotState.BROKEN,
    CopilotState.CHANGED,
    CopilotState.DRAFT,
    CopilotState.PUBLISHED,
    CopilotState.DISABLED,
    CopilotState.DELETED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A copilot on the start page.

    Attributes:
        last_at: When somebody last asked it; None: nobody did.
        questions: Of the last seven days, and how many of them failed.
    """

    copilot: Copilot
    standing: Standing
    url: str
    image: str
    last_at: datetime | None
    questions: int
    errors: int

    @property
    def urgency(self) -> int:
        """What needs attention comes first; among the others, what is used most."""
        return URGENCY.index(self.standing.state)


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
    last = Conversation.objects.of_callers().filter(copilot=OuterRef("pk")).order_by("-last_at")
    rows = Copilot.objects.select_related("provider", "live", "live__provider").annotate(
        last_asked=Subquery(last.values("last_at")[:1])
    )
    copilots = list(rows.order_by("-updated_at")[:MOST_COPILOTS])
    use = _use_of_the_week([copilot.pk for copilot in copilots])
    tiles = [_tile(copilot, *use.get(copilot.pk, (0, 0))) for copilot in copilots]
    return sorted(tiles, key=lambda tile: (tile.urgency, -tile.questions))


def _tile(copilot: Copilot, questions: int, errors: int) -> Tile:
    image = stored_image(image_of(copilot))
    return Tile(
        copilot=copilot,
        standing=standing_of(copilot),
        url=reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]),
        image=reverse("admin:copilot_admin_copilot_image", args=[copilot.pk]) if image else "",
        last_at=getattr(copilot, "last_asked", None),
        questions=questions,
        errors=errors,
    )


def _use_of_the_week(ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Questions and failed ones of copilots since this day a week ago, from the counts of days."""
    since = timezone.now().date() - timedelta(days=DAYS - 1)
    rows = (
        DailyUsage.objects.filter(copilot__in=ids, day__gte=since)
        .values_list("copilot")
        .annotate(questions=Sum("runs"), failed=Sum("errors"))
    )
    return {copilot: (questions, failed) for copilot, questions, failed in rows}


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
