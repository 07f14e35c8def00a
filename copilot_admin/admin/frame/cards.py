"""The cards of the start page: which copilots are on it, how each stands and what it is used for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery
from django.urls import reverse

from copilot_admin.admin.common.use import WeekUse, use_of_the_week
from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.fields.codecs import image_of
from copilot_admin.copilots.remote_images import stored_image
from copilot_admin.copilots.standing import CopilotState, Standing
from copilot_admin.models import Conversation, Copilot
from copilot_admin.models.copilots import CopilotQuerySet

MOST_COPILOTS = 12
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
class CopilotTile:
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
class Overview:
    """All copilots at a glance.

    Attributes:
        tiles: Those that have a card, in the order of the page.
        standings: How each of all stands.
    """

    tiles: Sequence[CopilotTile] = ()
    standings: Sequence[tuple[Copilot, Standing]] = ()

    def in_state(self, state: CopilotState) -> list[tuple[Copilot, Standing]]:
        """The copilots that are in a state, such as draft or published."""
        return [row for row in self.standings if row[1].state is state]


def overview_of(copilots: CopilotQuerySet) -> Overview:
    """How copilots stand; four queries, however many there are."""
    rows = copilots.select_related("provider", "live", "live__provider").by_name()
    standings = {copilot.pk: (copilot, standing_of(copilot)) for copilot in rows}
    use = use_of_the_week()
    chosen = cards_to_show(
        [(pk, standing.state, copilot.updated_at) for pk, (copilot, standing) in standings.items()],
        questions={pk: found.questions for pk, found in use.items()},
    )
    asked = _last_asked(chosen)
    tiles = [_tile(*standings[pk], use.get(pk, WeekUse()), asked.get(pk)) for pk in chosen]
    return Overview(tiles=tiles, standings=list(standings.values()))


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


def _tile(
    copilot: Copilot, standing: Standing, use: WeekUse, last_at: datetime | None
) -> CopilotTile:
    image = stored_image(image_of(copilot))
    return CopilotTile(
        copilot=copilot,
        standing=standing,
        url=reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]),
        image=reverse("admin:copilot_admin_copilot_image", args=[copilot.pk]) if image else "",
        last_at=last_at,
        questions=use.questions,
        errors=use.errors,
    )
