"""Settings of the list of conversations: the reader's columns and saved views."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.admin.transcripts.columns import COLUMNS, COLUMNS_COOKIE
from copilot_admin.admin.transcripts.list_page import find_unknown, unknown_filter_page
from copilot_admin.admin.transcripts.pages import LIST
from copilot_admin.models.review import MAX_VIEW_NAME_LENGTH
from copilot_admin.transcripts.access import REVIEW, may_read_conversations
from copilot_admin.transcripts.search.list_query import (
    MAX_QUERY_LENGTH,
    delete_view,
    normalize_query,
    read_query,
    rename_view,
    save_view,
)

URL = "admin:copilot_admin_conversation_changelist"
YEAR_SECONDS = 365 * 24 * 3600


@require_POST
def choose_columns_view(request: HttpRequest) -> HttpResponse:
    _check(request)
    known = {column.name for column in COLUMNS}
    names = [name for name in request.POST.getlist("column") if name in known]
    query = request.POST.get(LIST, "")
    response = HttpResponseRedirect(f"{reverse(URL)}?{query}" if query else reverse(URL))
    if "reset" in request.POST:
        response.delete_cookie(COLUMNS_COOKIE)
    else:
        response.set_cookie(
            COLUMNS_COOKIE, ".".join(names), max_age=YEAR_SECONDS, httponly=True, samesite="Lax"
        )
    return response


@require_POST
def save_view_view(request: HttpRequest) -> HttpResponse:
    _check(request)
    query = request.POST.get("query", "")
    if unknown := find_unknown(QueryDict(query).dict()):
        return unknown_filter_page(request, unknown)
    is_shared = "shared" in request.POST and request.user.has_perm(REVIEW)
    name = request.POST.get("name", "")
    error = save_view(request.user, name=name, query=query, is_shared=is_shared)
    return _redirect(request, error, done=_("View saved."))


@require_POST
def rename_view_view(request: HttpRequest, view: int) -> HttpResponse:
    _check(request)
    error = rename_view(request.user, view, name=request.POST.get("name", ""))
    return _redirect(request, error, done=_("View renamed."))


@require_POST
def delete_view_view(request: HttpRequest, view: int) -> HttpResponse:
    _check(request)
    error = "" if delete_view(request.user, view) else "gone"
    return _redirect(request, error, done=_("View deleted."))


def _check(request: HttpRequest) -> None:
    if not may_read_conversations(request.user):
        raise PermissionDenied


def _redirect(request: HttpRequest, error: str, *, done: str) -> HttpResponseRedirect:
    texts = {
        "": done,
        "unnamed": _("Enter a name for the view."),
        "long": _("Use at most %(max)s characters for the name.") % {"max": MAX_VIEW_NAME_LENGTH},
        "empty": _("Set a filter or search for something before you save a view."),
        "much": _("The filters are too long to save. Select fewer values."),
        "taken": _("You already have a view with this name. Choose another name."),
        "gone": _("This view was deleted or belongs to someone else."),
    }
    messages.add_message(request, messages.ERROR if error else messages.SUCCESS, texts[error])
    kept = normalize_query(read_query(request.POST.get("query", "")))
    is_short = len(kept) <= MAX_QUERY_LENGTH
    return HttpResponseRedirect(f"{reverse(URL)}?{kept}" if kept and is_short else reverse(URL))
