"""Saved views of the list of conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import QueryDict

from copilot_admin.copilots.config_types import remove_bidi_controls
from copilot_admin.models import SavedView
from copilot_admin.models.review import MAX_VIEW_NAME_LENGTH
from copilot_admin.transcripts.filters import FILTERS
from copilot_admin.transcripts.search.text_index import clean_search
from protocol.json import clean_text

SEARCH_PARAMETER = "q"
MAX_VIEWS = 40  # own and shared
MAX_QUERY_LENGTH = 8_000


@dataclass(frozen=True, slots=True)
class ListedView:
    view: SavedView
    is_own: bool
    may_delete: bool
    is_current: bool


def read_query(query: str) -> dict[str, str]:
    """Return the parameters of a URL that the list reads; the last of repeated ones."""
    return QueryDict(query).dict()


def normalize_query(given: Mapping[str, str]) -> str:
    """Return the filters and search of a URL in canonical order."""
    kept = {name: given.get(name, "").strip() for name in (SEARCH_PARAMETER, *FILTERS)}
    kept[SEARCH_PARAMETER] = clean_search(kept[SEARCH_PARAMETER])
    return urlencode({name: value for name, value in kept.items() if value})


def list_views(user: AbstractUser | AnonymousUser, *, current: str) -> Sequence[ListedView]:
    """Return the views of a user and the shared ones by name; `current` is the displayed query."""
    seen = SavedView.objects.filter(Q(owner=user.pk) | Q(is_shared=True)).order_by("name", "id")
    listed = []
    for view in seen[:MAX_VIEWS]:
        is_own = view.owner_id == user.pk
        is_current = bool(current) and view.query == current
        listed.append(ListedView(view, is_own, is_own or user.is_superuser, is_current))
    return listed


def save_view(user: AbstractUser | AnonymousUser, *, name: str, query: str, is_shared: bool) -> str:
    """Save a view, replacing an own one with this name; return the kind of an error, or ""."""
    title, error = _clean_title(name)
    kept = normalize_query(read_query(query))
    if error or not kept:
        return error or "empty"
    if len(kept) > MAX_QUERY_LENGTH:
        return "much"
    values = {"query": kept, "is_shared": is_shared}
    SavedView.objects.update_or_create(owner_id=user.pk, name=title, defaults=values)
    return ""


def rename_view(user: AbstractUser | AnonymousUser, view_id: int, *, name: str) -> str:
    """Rename an own view; return the kind of an error, or ""."""
    title, error = _clean_title(name)
    if error:
        return error
    own = SavedView.objects.filter(owner=user.pk)
    try:
        with transaction.atomic():
            return "" if own.filter(pk=view_id).update(name=title) else "gone"
    except IntegrityError:
        return "taken"


def delete_view(user: AbstractUser | AnonymousUser, view_id: int) -> bool:
    """Delete an own view, or as a superuser a shared one; return False if it doesn't exist."""
    allowed = Q(owner=user.pk) | (Q(is_shared=True) if user.is_superuser else Q(pk__in=()))
    deleted, _ = SavedView.objects.filter(allowed, pk=view_id).delete()
    return bool(deleted)


def _clean_title(name: str) -> tuple[str, str]:
    """Return a name and the kind of its error, or ""."""
    title = " ".join(remove_bidi_controls(clean_text(name)).split())
    is_long = len(title) > MAX_VIEW_NAME_LENGTH
    return title, "long" if is_long else "" if title else "unnamed"
