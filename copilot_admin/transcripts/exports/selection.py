"""Which conversations an export has: those of the list's filters and words, found window by window.

The list looks for words within bounds, since somebody waits for it. Here nobody waits: each window is
looked at, so all are found, and no statement ever reads more than one window.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Max, Min, Q
from django.utils import timezone

from copilot_admin.models import Conversation, TurnText
from copilot_admin.models.privacy import ERASED
from copilot_admin.transcripts.filters.days import PERIODS
from copilot_admin.transcripts.filters.registry import FILTERS
from copilot_admin.transcripts.search.chosen import Chosen, read_filters
from copilot_admin.transcripts.search.phrases import read_typed
from copilot_admin.transcripts.search.saved_views import SEARCHED, kept_query, read_query
from copilot_admin.transcripts.search.searching import found_by_id, is_only_named
from copilot_admin.transcripts.search.texts import having

WINDOW = 500  # conversations of one statement
COUNTED = 10_000  # conversations that are counted before an export begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What an export has.

    Attributes:
        chosen: The filters.
        phrases: Words that have to stand in one turn, folded.
        named: Conversations that the words name by an id, whatever the filters.
        is_only_named: Nothing but those.
    """

    chosen: Chosen
    phrases: Sequence[str] = ()
    named: frozenset[int] = frozenset()
    is_only_named: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWindow:
    """Some conversations side by side, newest first.

    Attributes:
        ids: Those that are selected.
        below: Where the next window begins.
    """

    ids: Sequence[int]
    below: int


def frozen_query(given: Mapping[str, str]) -> str:
    """The filters and words of an address as an export keeps them: "the last 7 days" becomes a date."""
    kept = read_query(kept_query(given))
    if kept.get("days") in PERIODS:
        days = int(kept.pop("days"))
        first = (timezone.now().date() - timedelta(days=days - 1)).isoformat()
        kept["since"] = max(first, kept.get("since", ""))
    return urlencode(kept)


def read_selection(query: str) -> Selection:
    """Reads what an export keeps of an address."""
    given = read_query(query)
    typed = read_typed(given.get(SEARCHED, ""))
    named = found_by_id(typed) if typed else {}
    return Selection(
        chosen=read_filters(given),
        phrases=typed.phrases,
        named=frozenset(named),
        is_only_named=is_only_named(typed, named),
    )


def words_of(query: str) -> str:
    """What an export has, in the words of the list: `Copilot: desk; Outcome: Failed`."""
    given = read_query(query)
    parts = [f"“{given[SEARCHED]}”"] if given.get(SEARCHED) else []
    for one in FILTERS:
        if value := given.get(one.name):
            parts.append(f"{one.label}: {one.shown(value, one.choices())}")
    return "; ".join(parts)


def borders() -> tuple[int, int]:
    """The lowest and the highest id of a conversation; (0, 0) while there is none."""
    found = Conversation.objects.aggregate(lowest=Min("pk"), highest=Max("pk"))
    return found["lowest"] or 0, found["highest"] or 0


def next_window(selection: Selection, below: int) -> ExportWindow | None:
    """The next conversations; None at the end.

    Args:
        selection: What is exported.
        below: Ids are smaller than this.
    """
    newest = Conversation.objects.filter(pk__lt=below).order_by("-pk")
    ids = list(newest.values_list("pk", flat=True)[:WINDOW])
    if not ids:
        return None
    here = Q(pk__gte=ids[-1], pk__lt=below)
    found = {pk for pk in ids if pk in selection.named}
    if not selection.is_only_named:
        found |= _found(selection, here)
    return ExportWindow(ids=[pk for pk in ids if pk in found], below=ids[-1])


def counted(selection: Selection) -> int | None:
    """How many there are, at most one more than `COUNTED`; None where only words would tell."""
    if selection.is_only_named:
        return len(selection.named)
    if selection.phrases:
        return None
    rows = Conversation.objects.filter(selection.chosen.condition, stays())
    return rows.order_by()[: COUNTED + 1].count()


def _found(selection: Selection, here: Q) -> set[int]:
    rows = Conversation.objects.filter(here, selection.chosen.condition, stays()).order_by()
    ids = set(rows.values_list("pk", flat=True))
    if not (ids and selection.phrases):
        return ids
    texts = having(TurnText.objects.filter(conversation__in=ids), selection.phrases)
    return set(texts.order_by().values_list("conversation_id", flat=True))


def stays() -> Q:
    """Which conversations are whole: neither they nor their copilot are being deleted."""
    return Q(copilot__deletion_requested_at=None) & ~Q(principal__startswith=ERASED)


def day_of(at: datetime) -> str:
    """A day in UTC, as filters and names of files have it."""
    return at.astimezone(UTC).date().isoformat()
