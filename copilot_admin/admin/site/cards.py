"""Cards of copilots on the start page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import PermissionsMixin, User
from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.admin.common.use import WeekUse, use_of_the_week
from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.remote_images import stored_image
from copilot_admin.copilots.standing import CopilotState, Standing
from copilot_admin.models import (
    Alert,
    AlertRule,
    Conversation,
    Copilot,
    EndpointKey,
    Provider,
    SubjectLimits,
)
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
    image = stored_image(copilot.picture)
    return CopilotTile(
        copilot=copilot,
        standing=standing,
        url=reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]),
        image=reverse("admin:copilot_admin_copilot_image", args=[copilot.pk]) if image else "",
        last_at=last_at,
        questions=use.questions,
        errors=use.errors,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminPlace:
    """A place of the admin, with a sentence of how it stands there."""

    title: str | Promise
    sentence: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A place, for those with a permission."""

    permission: str
    title: str | Promise
    url: str
    sentence: Callable[[], str]


def looked_after(user: object) -> list[AdminPlace]:
    """The places of those who keep the server in order; a query or two each."""
    return list(_places(user)) if isinstance(user, PermissionsMixin) else []


def _places(user: PermissionsMixin) -> Iterator[AdminPlace]:
    for kind in _KINDS:
        if user.has_perm(kind.permission):
            yield AdminPlace(title=kind.title, sentence=kind.sentence(), url=reverse(kind.url))


def _providers() -> str:
    number = Provider.objects.count()
    used = Copilot.objects.in_use().values("provider").distinct().count()
    there = ngettext("%(n)d provider", "%(n)d providers", number) % {"n": number}
    return _("%(there)s; copilots use %(used)d.") % {"there": there, "used": used}


def _keys() -> str:
    number = EndpointKey.objects.valid(at=timezone.now()).count()
    return ngettext("%(n)d valid key.", "%(n)d valid keys.", number) % {"n": number}


def _limits() -> str:
    number = SubjectLimits.objects.exclude(limits={}).count()
    number += Copilot.objects.in_use().exclude(limits={}).count()
    sentence = ngettext("Set for %(n)d subject.", "Set for %(n)d subjects.", number)
    return sentence % {"n": number} if number else _("None is set.")


def _alerts() -> str:
    number = AlertRule.objects.filter(enabled=True).count()
    if not number:
        return _("No rule is on: nobody is told when something is wrong.")
    still = Alert.objects.filter(closed_at=None).count()
    rules = ngettext("%(n)d rule is on", "%(n)d rules are on", number) % {"n": number}
    return _("%(rules)s, and %(open)d open.") % {"rules": rules, "open": still}


def _people() -> str:
    number = User.objects.filter(is_active=True, is_staff=True).count()
    return ngettext("%(n)d person may log in.", "%(n)d people may log in.", number) % {"n": number}


_KINDS = (
    _Kind(
        permission="copilot_admin.view_provider",
        title=gettext_lazy("Providers"),
        url="admin:copilot_admin_provider_changelist",
        sentence=_providers,
    ),
    _Kind(
        permission="copilot_admin.view_endpointkey",
        title=gettext_lazy("Endpoint keys"),
        url="admin:copilot_admin_endpointkey_changelist",
        sentence=_keys,
    ),
    _Kind(
        permission="copilot_admin.view_subjectlimits",
        title=gettext_lazy("Limits"),
        url="admin:limits",
        sentence=_limits,
    ),
    _Kind(
        permission="copilot_admin.view_alertrule",
        title=gettext_lazy("Alerts"),
        url="admin:copilot_admin_alertrule_changelist",
        sentence=_alerts,
    ),
    _Kind(
        permission="auth.view_user",
        title=gettext_lazy("People"),
        url="admin:auth_user_changelist",
        sentence=_people,
    ),
)
