"""Views of the transcript list that reviewers saved, with counts where those are cheap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import QueryDict

from copilot_admin.copilots.fields.text_checks import without_turning_signs
from copilot_admin.models import Conversation, SavedView
from copilot_admin.models.review import MAX_VIEW_NAME_LENGTH
from copilot_admin.transcripts.filters.registry import BY_NAME
from copilot_admin.transcripts.search.chosen import read_filters
from copilot_admin.transcripts.search.finding import scope_of
from copilot_admin.transcripts.search.phrases import as_read
from protocol.json import clean_text

SEARCHED = "q"
MOST_VIEWS = 40  # shown: own and shared
MOST_COUNTED = 12
MOST_LOOKED_AT = (
    1_000  # for a view of several filters; they go without a number where there are more
)
COUNTED = 99  # conversations of a view; above it says "99+"
LONGEST_QUERY = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownView:
    """A view as the list shows it.

    Attributes:
        number: Of its conversations, None where counting is not cheap; more than `COUNTED` is many.
    """

    view: SavedView
    is_own: bool
    may_delete: bool
    is_current: bool
    number: int | None

    @property
    def count(self) -> str:
        """The number in words of a badge."""
        if self.number is None:
            return ""
        return f"{COUNTED}+" if self.number > COUNTED else str(self.number)


def read_query(query: str) -> dict[str, str]:
    """The parameters of an address as the list reads them: of several with one name the last, also an empty one."""
    return QueryDict(query).dict()


def kept_query(given: Mapping[str, str]) -> str:
    """What of an address a view keeps: filters and words, in one order."""
    kept = {name: given.get(name, "").strip() for name in (SEARCHED, *BY_NAME)}
    kept[SEARCHED] = as_read(kept[SEARCHED])
    return urlencode({name: value for name, value in kept.items() if value})


def views_for(user: AbstractUser | AnonymousUser, *, current: str) -> Sequence[ShownView]:
    """The views of a user and those that others share, by name.

    Args:
        user: Who looks at the list.
        current: The query of the list as it is shown.
    """
    seen = SavedView.objects.filter(Q(owner=user.pk) | Q(is_shared=True)).order_by("name", "id")
    return [
        ShownView(
            view=view,
            is_own=view.owner_id == user.pk,
            may_delete=view.owner_id == user.pk or user.is_superuser,
            is_current=bool(current) and view.query == current,
            number=_count(view) if place < MOST_COUNTED else None,
        )
        for place, view in enumerate(seen[:MOST_VIEWS])
    ]


def save_view(user: AbstractUser | AnonymousUser, *, name: str, query: str, is_shared: bool) -> str:
    """Saves a view, in place of an own one with this name.

    Returns:
        Why it was not saved, in the end "" if it was.
    """
    title = _title(name)
    kept = kept_query(read_query(query))
    if why := _fault(title):
        return why
    if not kept:
        return "empty"
    if len(kept) > LONGEST_QUERY:
        return "much"
    values = {"query": kept, "is_shared": is_shared}
    SavedView.objects.update_or_create(owner_id=user.pk, name=title, defaults=values)
    return ""


def rename_view(user: AbstractUser | AnonymousUser, view_id: int, *, name: str) -> str:
    """Gives an own view another name.

    Returns:
        Why it has its name still, in the end "" if it has not.
    """
    title = _title(name)
    if why := _fault(title):
        return why
    own = SavedView.objects.filter(owner=user.pk)
    try:
        with transaction.atomic():
            return "" if own.filter(pk=view_id).update(name=title) else "gone"
    except IntegrityError:  # the constraint decides, of two who ask at once as well
        return "taken"


def delete_view(user: AbstractUser | AnonymousUser, view_id: int) -> bool:
    """Deletes an own view, or as an admin a shared one: its owner may have left.

    Returns:
        Whether there was one.
    """
    allowed = Q(owner=user.pk) | (Q(is_shared=True) if user.is_superuser else Q(pk__in=()))
    deleted, _ = SavedView.objects.filter(allowed, pk=view_id).delete()
    return bool(deleted)


def _title(name: str) -> str:
    return " ".join(without_turning_signs(clean_text(name)).split())


def _fault(title: str) -> str:
    if not title:
        return "unnamed"
    return "long" if len(title) > MAX_VIEW_NAME_LENGTH else ""


def _count(view: SavedView) -> int | None:
    given = read_query(view.query)
    chosen = read_filters(given)
    if SEARCHED in given or chosen.unknown or not chosen.is_cheap:
        return None
    newest = Conversation.objects.order_by("-last_at", "-id")
    scope = scope_of(newest, chosen, window=MOST_LOOKED_AT)
    number = scope.rows.order_by()[: COUNTED + 1].count()
    return number if scope.end is None or number > COUNTED else None
