"""The list of conversations: views as tabs, filter chips, rows, pages, and the reader's columns."""

from collections.abc import Iterator, Mapping, Sequence
import time
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.copilots.header import CONVERSATIONS, build_copilot_header
from copilot_admin.admin.transcripts.columns import (
    COLUMNS,
    Column,
    choose_columns,
    prefetch_details,
)
from copilot_admin.admin.transcripts.facts import series_of
from copilot_admin.admin.transcripts.filter_chips import (
    EDIT,
    build_chips,
    build_filter_menu,
    list_url,
)
from copilot_admin.admin.transcripts.pages import (
    FOLDER,
    LIST,
    PLACE,
    load_conversation,
    render_page,
)
from copilot_admin.audit.recording import Actor, record_search
from copilot_admin.models import Conversation, Criterion, ReviewQueue, SavedView
from copilot_admin.storage.errors import TooSlowError
from copilot_admin.transcripts.access import (
    REVIEW,
    VIEW,
    visible_conversations,
)
from copilot_admin.transcripts.filters import FILTERS, find_copilots
from copilot_admin.transcripts.search.list_query import (
    SEARCH_PARAMETER,
    SORT_PARAMETER,
    SORTS,
    ConversationList,
    ListPage,
    RowKey,
    find_hits,
    load_errors,
    load_excerpts,
    normalize_query,
    read_query,
)
from copilot_admin.transcripts.verdicts import active_criteria

PAGE_SIZE = 50
MAX_COUNT = 1_000  # above it the list says "1,000+": counting a million rows takes a second
COUNT_SECONDS = 0.15  # for the counts of all tabs together
AFTER, BEFORE = "after", "before"
ORIGIN = "from"  # "copilot": the list is a tab of a copilot
OTHER_PARAMETERS = frozenset({SEARCH_PARAMETER, SORT_PARAMETER, AFTER, BEFORE, EDIT, ORIGIN})
MAX_QUEUES = 10  # to which a selection may be added
MAX_VIEWS = 40  # own and shared
NO_TURNS: Mapping[int, int | None] = {}


def conversation_list(request: HttpRequest) -> HttpResponse:
    params = {name: value.strip() for name, value in request.GET.dict().items()}
    if rejected := reject_unknown(request, params):
        return rejected
    listed = ConversationList(visible_conversations(request.user), params)
    page, is_too_slow = ListPage(), False
    try:
        page = listed.read_page(
            size=PAGE_SIZE,
            after=RowKey.parse(params.get(AFTER, "")),
            before=RowKey.parse(params.get(BEFORE, "")),
        )
    except TooSlowError:
        is_too_slow = True
    carried = {*FILTERS, SEARCH_PARAMETER, SORT_PARAMETER}
    filters = {k: v for k, v in params.items() if k in carried}
    columns = choose_columns(request, page.rows)
    phrases = tuple(listed.query.phrases)
    current = normalize_query(filters)
    views = _list_views(request.user)
    context = {
        "rows": _build_rows(page.rows, columns, filters, phrases=phrases, named=page.named),
        "columns": columns,
        "sorts": _build_sorts(params),
        "column_choices": [(one, one in columns) for one in COLUMNS],
        "tabs": list(_build_tabs(request.user, params, views, current=current)),
        "chips": build_chips(listed.filters, params, suggests_users=request.user.has_perm(VIEW)),
        "filter_menu": build_filter_menu(listed.filters, params),
        "page": page,
        "pager": _pager(params, page),
        "listed": listed,
        "is_too_slow": is_too_slow,
        "current_query": current,
        "list_fields": {LIST: urlencode(filters)},
        "list_query": urlencode({LIST: urlencode(filters)}),
        "other_params": {k: v for k, v in params.items() if v and k not in ("q", AFTER, BEFORE)},
        "views": views,
        "may_share": request.user.has_perm(REVIEW),
        **_bulk_context(request.user),
        **_copilot_header(request, params),
    }
    record_search(
        Actor.of(request),
        "conversation",
        {k: v for k, v in params.items() if k != SEARCH_PARAMETER},
        words=params.get(SEARCH_PARAMETER, ""),
    )
    return render_page(request, "list.html", _("Conversations"), **context)


def row_view(request: HttpRequest, pk: int) -> HttpResponse:
    conversation = load_conversation(request, pk, view="")
    filters = read_query(request.GET.get(LIST, ""))
    columns = choose_columns(request, [conversation])
    (row,) = _build_rows([conversation], columns, filters)
    return render(request, f"{FOLDER}/list_row.html", {"row": row})


def reject_unknown(request: HttpRequest, query: Mapping[str, str]) -> HttpResponse | None:
    """Return a page about a parameter that the list doesn't know; None if there is none."""
    unknown = query.keys() - FILTERS.keys() - OTHER_PARAMETERS
    if not unknown:
        return None
    title = _("Unknown filter")
    response = render_page(request, "unknown_filter.html", title, name=min(unknown))
    response.status_code = 400
    return response


def _build_rows(
    rows: Sequence[Conversation],
    columns: Sequence[Column],
    filters: Mapping[str, str],
    *,
    phrases: Sequence[str] = (),
    named: Mapping[int, int | None] = NO_TURNS,
) -> list[dict[str, Any]]:
    """Return the rows of a page with links that carry on the filters.

    Excerpts show the phrases. `named` has the turns of conversations that were found by an id.
    """
    prefetch_details(rows)
    errors = load_errors(rows)
    hits = find_hits([row.pk for row in rows], phrases) if phrases else {}
    excerpts = load_excerpts([*hits.values()], phrases) if hits else {}
    found = []
    for row in rows:
        hit = hits.get(row.pk, 0)
        query = {
            LIST: urlencode(filters),
            PLACE: str(RowKey.of(row)),
            "q": filters.get(SEARCH_PARAMETER),
            "turn": named.get(row.pk) or hit,
        }
        found.append(
            {
                "conversation": row,
                "query": urlencode({name: value for name, value in query.items() if value}),
                "series": series_of(row),
                "errors": errors.get(row.pk, ()),
                "cells": [(column, column.cell(row)) for column in columns],
                "excerpt": excerpts.get(hit, ()),
            }
        )
    return found


def _list_views(user: AbstractUser | AnonymousUser) -> Sequence[SavedView]:
    """Return the views of a user and the shared ones by name."""
    seen = SavedView.objects.filter(Q(owner=user.pk) | Q(is_shared=True))
    return list(seen.order_by("name", "id")[:MAX_VIEWS])


def _build_tabs(
    user: AbstractUser | AnonymousUser,
    params: Mapping[str, str],
    saved: Sequence[SavedView],
    *,
    current: str,
) -> Iterator[dict[str, Any]]:
    """Yield the views of the list; `count` is "" where counting takes too long."""
    scope = {name: params[name] for name in ("copilot", ORIGIN) if params.get(name)}
    given: list[tuple[str, dict[str, str]]] = [
        (_("All"), {}),
        (_("Thumbs down"), {"judged": "down"}),
        (_("Errors"), {"outcome": "any-failed"}),
        (_("Unreviewed"), {"state": "new"}),
    ]
    if user.has_perm(REVIEW):
        given.append((_("My queue"), {"assigned": user.get_username()}))
    matching = [
        label for label, own in given[1:] if all(params.get(k) == v for k, v in own.items())
    ]
    chosen = matching[-1] if matching else given[0][0]
    saved = saved if user.has_perm(VIEW) else ()
    is_saved = bool(current) and any(one.query == current for one in saved)
    deadline = time.monotonic() + COUNT_SECONDS
    for label, own in given:
        listed = ConversationList(visible_conversations(user), {**scope, **own})
        number = listed.count(MAX_COUNT, seconds=deadline - time.monotonic())
        shown = "" if number is None else f"{min(number, MAX_COUNT):,}"
        yield {
            "label": label,
            "url": "?" + urlencode({**scope, **own}),
            "count": f"{shown}+" if number and number > MAX_COUNT else shown,
            "is_current": not is_saved and label == chosen,
        }
    for one in saved:
        yield {"label": one.name, "url": f"?{one.query}", "is_current": one.query == current}


def _build_sorts(params: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the URL that sorts by a column or turns its order, and the icon of its order, by key."""
    current = params.get(SORT_PARAMETER, "")
    sorts = {}
    for name, (newest, oldest) in SORTS.items():
        value = oldest if current == newest else newest
        icon = {newest: "arrow-down", oldest: "arrow-up"}.get(current, "")
        title = _("Oldest first") if value == oldest else _("Newest first")
        sorts[name] = {"url": list_url(params, sort=value), "icon": icon, "title": title}
    return sorts


def _pager(params: Mapping[str, str], page: ListPage) -> Mapping[str, str]:
    urls: dict[str, str] = {}
    rows = [row for row in page.rows if row.pk not in page.named]
    if page.has_previous:
        urls["previous"] = list_url(params, before=str(RowKey.of(rows[0])))
    if page.has_next:
        urls["next"] = list_url(params, after=str(RowKey.of(rows[-1])))
    return urls


def _bulk_context(user: AbstractUser | AnonymousUser) -> dict[str, Any]:
    if not user.has_perm(REVIEW):
        return {}
    queues = ReviewQueue.objects.filter(is_closed=False).order_by("-id")
    labels: list[Criterion] = [one for one in active_criteria() if one.kind == "label"]
    return {"bulk_labels": labels, "bulk_queues": queues[:MAX_QUEUES]}


def _copilot_header(request: HttpRequest, params: Mapping[str, str]) -> dict[str, Any]:
    if params.get(ORIGIN) != "copilot":
        return {}
    ids = find_copilots(params.get("copilot", ""))
    copilot = reachable(request.user).filter(pk__in=ids).first() if len(ids) == 1 else None
    if copilot is None:
        return {}
    return {"copilot_header": build_copilot_header(request, copilot, CONVERSATIONS)}
