"""The start page: copilots and how they stand, what was asked last, what to do next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.use import Use, use_of_the_week
from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.fields.codecs import image_of
from copilot_admin.copilots.remote_images import stored_image
from copilot_admin.copilots.standing import CopilotState, Standing
from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.models import Conversation, Copilot, Provider
from copilot_admin.models.copilots import CopilotQuerySet

MOST_COPILOTS = 12
MOST_CONVERSATIONS = 8
URGENCY = (
    CopilotState.BROKEN,
    CopilotState.CHANGED,
    CopilotState.DRAFT,
    CopilotState.PUBLISHED,
    CopilotState.DISABLED,
    CopilotState.DELETED,
    CopilotState.ARCHIVED,
)
UNFINISHED = (CopilotState.CHANGED, CopilotState.DRAFT)


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
    in_use = Copilot.objects.in_use()
    tags = known_tags(in_use) if sees_copilots else []
    tag = request.GET.get("tag", "")
    shown = tagged(in_use, tag) if tag else in_use
    tiles = _tiles(shown) if sees_copilots else []
    return {
        "tags": tags,
        "tag": tag,
        "n_copilots": shown.count() if sees_copilots else 0,
        "sees_copilots": sees_copilots,
        "may_add": user.has_perm("copilot_admin.add_copilot"),
        "tiles": tiles,
        "sees_conversations": user.has_perm("copilot_admin.view_conversation"),
        "recent": _recent() if user.has_perm("copilot_admin.view_conversation") else [],
        "steps": next_steps(request, tiles),
    }


def next_steps(request: HttpRequest, tiles: Sequence[Tile]) -> list[NextStep]:
    """The steps that lead on from here, most urgent first."""
    user = request.user
    steps: list[NextStep] = []
    may_begin = user.has_perm("copilot_admin.add_copilot")  # the empty page says how
    if (
        not may_begin
        and user.has_perm("copilot_admin.add_provider")
        and not Provider.objects.exists()
    ):
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


def _tiles(copilots: CopilotQuerySet) -> list[Tile]:
    """The cards of the start page; how each copilot stands is asked of all, in one query."""
    rows = list(copilots.select_related("provider", "live", "live__provider"))
    use = use_of_the_week()
    judged = [(copilot, standing_of(copilot)) for copilot in rows]
    chosen = cards_to_show(
        [(copilot.pk, standing.state, copilot.updated_at) for copilot, standing in judged],
        questions={pk: found.questions for pk, found in use.items()},
    )
    found = {copilot.pk: (copilot, standing) for copilot, standing in judged}
    asked = _last_asked(chosen)
    return [_tile(*found[pk], use.get(pk, Use()), asked.get(pk)) for pk in chosen]


def cards_to_show(
    copilots: Iterable[tuple[int, CopilotState, datetime]],
    *,
    questions: Mapping[int, int],
    most: int = MOST_COPILOTS,
) -> list[int]:
    """Which copilots the start page shows, in which order.

    What is broken comes first. Drafts and changed ones come next, the latest first; of many they
    take half of the page, so that what people use is on it too.

    Args:
        copilots: Id and state of each, and when its draft was last changed.
        questions: How often each was asked in seven days.
        most: How many there is room for.
    """
    ranked = sorted(
        copilots,
        key=lambda row: (URGENCY.index(row[1]), -questions.get(row[0], 0), -row[2].timestamp()),
    )
    broken = [pk for pk, state, _ in ranked if state is CopilotState.BROKEN]
    unfinished = [pk for pk, state, _ in ranked if state in UNFINISHED]
    others = [pk for pk, state, _ in ranked if state not in {CopilotState.BROKEN, *UNFINISHED}]
    room = max(most - len(broken), 0)
    n_unfinished = max(room - room // 2, room - len(others))
    shown = [*broken, *unfinished[:n_unfinished]][:most]
    return [*shown, *others[: most - len(shown)]]


def _last_asked(ids: Sequence[int]) -> dict[int, datetime]:
    last = Conversation.objects.of_callers().filter(copilot=OuterRef("pk")).order_by("-last_at")
    rows = Copilot.objects.filter(pk__in=ids).annotate(asked=Subquery(last.values("last_at")[:1]))
    return {pk: asked for pk, asked in rows.values_list("pk", "asked") if asked}


def _tile(copilot: Copilot, standing: Standing, use: Use, last_at: datetime | None) -> Tile:
    image = stored_image(image_of(copilot))
    return Tile(
        copilot=copilot,
        standing=standing,
        url=reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]),
        image=reverse("admin:copilot_admin_copilot_image", args=[copilot.pk]) if image else "",
        last_at=last_at,
        questions=use.questions,
        errors=use.errors,
    )


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
