"""The conversations of an export: those of the list's filters and search, found window by window.

The list searches within limits, since a user is waiting. An export searches every window, so it
finds all conversations, and no statement reads more than one window.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from django.db.models import Max, Min, Q
from django.utils import timezone

from copilot_admin.models import Conversation, TurnText
from copilot_admin.models.privacy import ERASED
from copilot_admin.storage.time_limit import TooSlowError, time_limit
from copilot_admin.transcripts.filter_conditions import PERIODS
from copilot_admin.transcripts.filters import FILTERS, TranscriptFilters, label_value, read_filters
from copilot_admin.transcripts.search.conversations import find_by_id, is_only_id
from copilot_admin.transcripts.search.saved_views import (
    SEARCH_PARAMETER,
    normalize_query,
    read_query,
)
from copilot_admin.transcripts.search.text_index import having, parse_search

WINDOW = 500  # conversations of one statement
MAX_COUNT = 10_000  # conversations that are counted before an export begins
COUNT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Conversations that match filters and phrases, and `named` ones regardless of the filters."""

    filters: TranscriptFilters
    phrases: Sequence[str] = ()
    named: frozenset[int] = frozenset()
    is_only_named: bool = False


def freeze_query(given: Mapping[str, str]) -> str:
    """Return the filters and search of a URL for storage: "the last 7 days" becomes a date."""
    kept = read_query(normalize_query(given))
    if kept.get("days") in PERIODS:
        days = int(kept.pop("days"))
        first = (timezone.now().date() - timedelta(days=days - 1)).isoformat()
        kept["since"] = max(first, kept.get("since", ""))
    return urlencode(kept)


def read_selection(query: str) -> Selection:
    given = read_query(query)
    words = parse_search(given.get(SEARCH_PARAMETER, ""))
    named = find_by_id(words, Conversation.objects.all()) if words else {}
    return Selection(
        filters=read_filters(given),
        phrases=words.phrases,
        named=frozenset(named),
        is_only_named=is_only_id(words, named),
    )


def describe_query(query: str) -> str:
    """Return a stored query as text: `Copilot: desk; Outcome: Failed`."""
    given = read_query(query)
    words = given.get(SEARCH_PARAMETER)
    filters = [
        f"{FILTERS[name].label}: {label_value(name, given[name])}"
        for name in FILTERS
        if given.get(name)
    ]
    return "; ".join([*([f"“{words}”"] if words else []), *filters])


def find_id_range() -> tuple[int, int]:
    found = Conversation.objects.aggregate(lowest=Min("pk"), highest=Max("pk"))
    return found["lowest"] or 0, found["highest"] or 0


def next_window(selection: Selection, below: int) -> tuple[Sequence[int], int] | None:
    """Return the selected ids of the next window, newest first, and its lower end; None at the end."""
    newest = Conversation.objects.filter(pk__lt=below).order_by("-pk")
    ids = list(newest.values_list("pk", flat=True)[:WINDOW])
    if not ids:
        return None
    found = {pk for pk in ids if pk in selection.named}
    if not selection.is_only_named:
        found |= _find_between(selection, ids[-1], below)
    return [pk for pk in ids if pk in found], ids[-1]


def count_conversations(selection: Selection) -> int | None:
    """Return their number, at most one more than `MAX_COUNT`; None if counting is too slow."""
    if selection.is_only_named:
        return len(selection.named)
    if selection.phrases:
        return None
    rows = selection.filters.apply(Conversation.objects.filter(is_staying()))
    try:
        with time_limit(COUNT_SECONDS):
            return rows.order_by()[: MAX_COUNT + 1].count()
    except TooSlowError:
        return None


def is_staying() -> Q:
    """Return the condition that excludes conversations and copilots being deleted."""
    return Q(copilot__deletion_requested_at=None) & ~Q(principal__startswith=ERASED)


def _find_between(selection: Selection, lowest: int, below: int) -> set[int]:
    rows = Conversation.objects.filter(is_staying(), pk__gte=lowest, pk__lt=below).order_by()
    ids = set(selection.filters.apply(rows).values_list("pk", flat=True))
    if not (ids and selection.phrases):
        return ids
    texts = having(TurnText.objects.filter(conversation__in=ids), selection.phrases)
    return set(texts.order_by().values_list("conversation_id", flat=True))
