"""A page of the list by key: the last one costs what the first costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from copilot_admin.models.audit import AuditEntry, AuditEntryQuerySet

OLDER, NEWER = "older", "newer"
SIZE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """Some entries, the newest first, and the ways to others.

    Attributes:
        older: The query of the next page; empty where there is none.
        newer: The query of the page before.
    """

    entries: Sequence[AuditEntry]
    older: str
    newer: str


def page_of(
    rows: AuditEntryQuerySet, place: Mapping[str, str], chosen: Mapping[str, str]
) -> AuditPage:
    """The page at a place.

    Args:
        rows: What is found.
        place: `older` or `newer` with the number of an entry; else the first page.
        chosen: The filters, which go with the ways.
    """
    newer, older = _number(place.get(NEWER)), _number(place.get(OLDER))
    rows = rows.defer("before", "after", "agent", "previous", "hash")
    if newer:
        near = list(rows.filter(sequence__gt=newer).order_by("sequence")[: SIZE + 1])
        shown = near[:SIZE][::-1]
        return _page(shown, chosen, has_older=True, has_newer=len(near) > SIZE)
    below = rows.filter(sequence__lt=older) if older else rows
    near = list(below.order_by("-sequence")[: SIZE + 1])
    return _page(near[:SIZE], chosen, has_older=len(near) > SIZE, has_newer=bool(older))


def _page(
    entries: Sequence[AuditEntry],
    chosen: Mapping[str, str],
    *,
    has_older: bool,
    has_newer: bool,
) -> AuditPage:
    return AuditPage(
        entries=entries,
        older=_query(chosen, OLDER, entries[-1]) if entries and has_older else "",
        newer=_query(chosen, NEWER, entries[0]) if entries and has_newer else "",
    )


def _query(chosen: Mapping[str, str], direction: str, entry: AuditEntry) -> str:
    return f"?{urlencode({**chosen, direction: entry.sequence})}"


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= 18 else 0
