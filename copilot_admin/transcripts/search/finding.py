"""What filters leave of the list, found without reading a whole table, whatever they ask for.

One filter whose index has its conversations in the order of the list needs no bound. Of several, and of
those that no index serves, a filter that leaves few is asked first; else the newest conversations are
looked through, as many as a window has. What they do not have is looked up by an index of ids, where that
has not too many; else the list says how far it looked, and goes on behind that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from copilot_admin.models import Conversation
from copilot_admin.transcripts.filters.filter import Indexed
from copilot_admin.transcripts.search.chosen import Chosen
from copilot_admin.transcripts.search.phrases import LARGEST_ID

FIRST_WINDOW, WINDOW = 1_000, 5_000
# Entries of an index, read from it alone, to find conversations wherever they are.
MOST_IDS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """Conversations that pass the filters, and how far was looked.

    Attributes:
        rows: Those that pass, in the order of the list.
        end: The last that was looked at, where there may be others behind it.
    """

    rows: QuerySet[Conversation]
    end: Conversation | None = None


def scope_of(
    ordered: QuerySet[Conversation], chosen: Chosen, *, window: int = WINDOW
) -> SearchScope:
    """Where to look for what filters leave.

    Args:
        ordered: All conversations on one side of a place in the list, nearest first.
        chosen: The filters.
        window: Conversations, or entries of an index, that may be read.
    """
    passing = ordered.filter(chosen.condition)
    if not chosen.needs_bound:
        return SearchScope(rows=passing)
    for indexed in chosen.indexed:
        found = list(indexed.ids[: window + 1])
        if len(found) <= window:
            # By their ids: PostgreSQL took the number that it guessed for a reason to read all conversations,
            # and joined what it had joined to find that they are few once more.
            few = {pk for row in found for pk in row.values() if pk is not None}
            return SearchScope(rows=ordered.filter(chosen.besides(indexed.condition), pk__in=few))
    ends = _ends(ordered, chosen, window)
    if None in ends:
        return SearchScope(rows=passing)
    end = _nearest([one for one in ends if one is not None], ordered)
    return SearchScope(rows=passing.filter(_until(end, ordered)), end=end)


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
    ordered: QuerySet[Conversation], chosen: Chosen, *, size: int, is_behind: bool = True
) -> list[Conversation] | None:
    """A page, and one more, of what was asked long ago: as from the newest that an index has.

    Ids go with the time at which conversations began. So what is nearer in the list began earlier, went
    on later, and is found by the ids that the index of the list has.

    Args:
        ordered: Conversations, nearest first.
        chosen: The filters.
        size: Rows of a page.
        is_behind: These are not all, but those behind a place in the list.

    Returns:
        None: No index can say, or the page would not be full.
    """
    known = [one for one in chosen.indexed if one.newest]
    if not known or not _is_newest_first(ordered):
        return None
    top = _highest_id(ordered) if is_behind else LARGEST_ID
    asked = [(one, one.newest(top)) for one in known if one.newest] if top else []
    if not asked or not all(ids for _, ids in asked):
        return None
    indexed, ids = min(asked, key=lambda one: one[1][0])
    rows = _of_highest(ordered, chosen, indexed, ids, size=size)
    return rows or _behind_newest(ordered, chosen, ids[0], size=size)


def _highest_id(ordered: QuerySet[Conversation]) -> int | None:
    """An id above which there is none; None where the nearest do not tell.

    Those behind the nearest went on until before the last of these. So they began before one of the nearest
    that began after that, and their ids are lower.
    """
    rows = ordered.select_related(None).values_list("pk", "first_at", "last_at")
    nearest = list(rows[:FIRST_WINDOW])
    if not nearest:
        return None
    top, begun, _ = max(nearest)
    is_told = len(nearest) < FIRST_WINDOW or begun >= nearest[-1][2]
    return top if is_told else None


def _of_highest(
    ordered: QuerySet[Conversation],
    chosen: Chosen,
    indexed: Indexed,
    ids: Sequence[int],
    *,
    size: int,
) -> list[Conversation] | None:
    known = ordered.filter(chosen.besides(indexed.condition), pk__in=ids)
    found = list(known[: size + 1])
    if len(found) <= size:
        return None
    lower = _gone_on(ordered.filter(chosen.span), below=ids[-1], after=found[-1])
    if lower is None:
        return None
    gone = list(ordered.filter(chosen.condition, pk__in=lower)) if lower else []
    return sorted((*found, *gone), key=_place, reverse=True)[: size + 1]


def _behind_newest(
    ordered: QuerySet[Conversation], chosen: Chosen, newest: int, *, size: int
) -> list[Conversation] | None:
    last = Conversation.objects.filter(pk=newest).first()
    if last is None:
        return None
    ids = _gone_on(ordered.filter(chosen.span), below=last.pk, after=last)
    if ids is None:
        return None
    found = list(ordered.filter(chosen.condition, pk__in=ids)) if ids else []
    found += first_rows(ordered.filter(_not_newer(last)), chosen, size=size)
    return found[: size + 1] if len(found) > size else None


def _gone_on(
    ordered: QuerySet[Conversation], *, below: int, after: Conversation
) -> list[int] | None:
    ids = list(gone_on(ordered, below=below, after=after)[: FIRST_WINDOW + 1])
    return ids if len(ids) <= FIRST_WINDOW else None


def gone_on(
    ordered: QuerySet[Conversation], *, below: int, after: Conversation
) -> "QuerySet[Conversation, int]":
    """Those with lower ids that went on after one; an index has all that is asked for."""
    rows = ordered.filter(pk__lt=below, last_at__gt=after.last_at)
    return rows.select_related(None).values_list("pk", flat=True)


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
    leads = [one.condition for one in chosen.indexed if one.is_in_order] or [Q()]
    rows = ordered.filter(chosen.span).select_related(None)
    return [rows.filter(lead)[window - 1 : window].first() for lead in leads]


def _nearest(ends: Sequence[Conversation], ordered: QuerySet[Conversation]) -> Conversation:
    pick = max if _is_newest_first(ordered) else min
    return pick(ends, key=_place)


def _place(one: Conversation) -> tuple[datetime, int]:
    return one.last_at, one.pk


def _until(end: Conversation, ordered: QuerySet[Conversation]) -> Q:
    at, pk = end.last_at, end.pk
    if _is_newest_first(ordered):
        return Q(last_at__gte=at) & (Q(last_at__gt=at) | Q(pk__gte=pk))
    return _not_newer(end)


def _not_newer(place: Conversation) -> Q:
    at, pk = place.last_at, place.pk
    return Q(last_at__lte=at) & (Q(last_at__lt=at) | Q(pk__lte=pk))


def _is_newest_first(ordered: QuerySet[Conversation]) -> bool:
    return str(ordered.query.order_by[0]).startswith("-")
