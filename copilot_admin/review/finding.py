"""What filters leave of the list, found without reading a whole table, whatever they ask for.

One filter whose index has its conversations in the order of the list needs no bound. Of several, and of
those that no index serves, a filter that leaves few is asked first; else the newest conversations are
looked through, as many as a window has. What they do not have is looked up by an index of ids, where that
has not too many; else the list says how far it looked, and goes on behind that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from copilot_admin.models import Conversation
from copilot_admin.review.chosen import Chosen

FIRST_WINDOW, WINDOW = 1_000, 5_000
# Entries of an index, read from it alone, to find conversations wherever they are.
MOST_IDS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Conversations that pass the filters, and how far was looked.

    Attributes:
        rows: Those that pass, in the order of the list.
        end: The last that was looked at, where there may be others behind it.
    """

    rows: QuerySet[Conversation]
    end: Conversation | None = None


def scope_of(ordered: QuerySet[Conversation], chosen: Chosen, *, window: int = WINDOW) -> Scope:
    """Where to look for what filters leave.

    Args:
        ordered: All conversations on one side of a place in the list, nearest first.
        chosen: The filters.
        window: Conversations, or entries of an index, that may be read.
    """
    passing = ordered.filter(chosen.condition)
    if not chosen.needs_bound:
        return Scope(rows=passing)
    for indexed in chosen.indexed:
        if not indexed.ids[window : window + 1]:
            few = Q() if indexed.is_condition else Q(pk__in=indexed.ids)
            return Scope(rows=passing.filter(few))
    ends = _ends(ordered, chosen, window)
    if None in ends:
        return Scope(rows=passing)
    end = _nearest([one for one in ends if one is not None], ordered)
    return Scope(rows=passing.filter(_until(end, ordered)), end=end)


def first_rows(ordered: QuerySet[Conversation], chosen: Chosen, *, size: int) -> list[Conversation]:
    """A page, and one more, of what filters leave among the nearest; fewer where it is not soon full."""
    passing = ordered.filter(chosen.condition)
    if chosen.needs_bound:
        ends = _ends(ordered, chosen, FIRST_WINDOW)
        known = [one for one in ends if one is not None]
        if len(known) < len(ends):
            return []
        passing = passing.filter(_until(_nearest(known, ordered), ordered))
    return list(passing[: size + 1])


def rows_from_newest(
    ordered: QuerySet[Conversation], chosen: Chosen, *, size: int
) -> list[Conversation] | None:
    """A page, and one more, of what was asked long ago: as from the newest that an index has.

    Ids go with the time at which conversations began. So what is nearer in the list began earlier, went
    on later, and is found by the ids that the index of the list has.

    Returns:
        None: No index can say, or the page would not be full.
    """
    last = _newest(chosen)
    if last is None or not _is_newest_first(ordered):
        return None
    ids = list(gone_on(ordered.filter(chosen.span), last)[: FIRST_WINDOW + 1])
    if len(ids) > FIRST_WINDOW:
        return None
    found = list(ordered.filter(chosen.condition, pk__in=ids)) if ids else []
    behind = ordered.filter(_not_newer(last))
    found += first_rows(behind, chosen, size=size)
    return found[: size + 1] if len(found) > size else None


def gone_on(ordered: QuerySet[Conversation], last: Conversation) -> "QuerySet[Conversation, int]":
    """Those that began before one and went on after it; an index has all that is asked for."""
    rows = ordered.filter(pk__lt=last.pk, last_at__gt=last.last_at)
    return rows.select_related(None).values_list("pk", flat=True)


def _newest(chosen: Chosen) -> Conversation | None:
    """The conversation behind whose id there is none that passes."""
    asked = [one.newest() for one in chosen.indexed if one.newest]
    known = [pk for pk in asked if pk is not None]
    if not known or len(known) < len(asked):
        return None
    return Conversation.objects.filter(pk=min(known)).first()


def rows_anywhere(ordered: QuerySet[Conversation], chosen: Chosen) -> QuerySet[Conversation] | None:
    """What filters leave however far away it is; None where indexes have too many entries of each."""
    for one in chosen.indexed:
        if not (one.is_in_order or one.ids[MOST_IDS : MOST_IDS + 1]):
            # A bound within the statement has PostgreSQL read them once, and not look for each conversation's.
            ids = one.ids.distinct()[:MOST_IDS]
            return ordered.filter(chosen.besides(one.condition), pk__in=ids)
    return None


def _ends(
    ordered: QuerySet[Conversation], chosen: Chosen, window: int
) -> list[Conversation | None]:
    """The last of a window, in each index that has the order; None where it has no more than that."""
    leads = [one.condition for one in chosen.indexed if one.is_in_order] or [Q()]
    rows = ordered.filter(chosen.span).select_related(None)
    return [rows.filter(lead)[window - 1 : window].first() for lead in leads]


def _nearest(ends: Sequence[Conversation], ordered: QuerySet[Conversation]) -> Conversation:
    """The one that comes first: as far as it, no index has more than a window."""
    pick = max if _is_newest_first(ordered) else min
    return pick(ends, key=lambda one: (one.last_at, one.pk))


def _until(end: Conversation, ordered: QuerySet[Conversation]) -> Q:
    """The part of the list as far as a conversation; an index begins or ends with the time."""
    at, pk = end.last_at, end.pk
    if _is_newest_first(ordered):
        return Q(last_at__gte=at) & (Q(last_at__gt=at) | Q(pk__gte=pk))
    return _not_newer(end)


def _not_newer(place: Conversation) -> Q:
    at, pk = place.last_at, place.pk
    return Q(last_at__lte=at) & (Q(last_at__lt=at) | Q(pk__lte=pk))


def _is_newest_first(ordered: QuerySet[Conversation]) -> bool:
    return str(ordered.query.order_by[0]).startswith("-")
