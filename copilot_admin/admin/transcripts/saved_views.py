"""Saved views of the list of conversations: saved, renamed, deleted."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.admin.transcripts.list_page import find_unknown, unknown_filter_page
from copilot_admin.admin.transcripts.pages import parse_id
from copilot_admin.models.review import MAX_VIEW_NAME_LENGTH
from copilot_admin.transcripts.access import REVIEW, may_read_conversations
from copilot_admin.transcripts.search.saved_views import (
    MAX_QUERY_LENGTH,
    delete_view,
    normalize_query,
    read_query,
    rename_view,
    save_view,
)


@require_POST
def save_view_view(request: HttpRequest) -> HttpResponse:
    """Save the filters and words of the list under a name."""
    _check(request)
    query = request.POST.get("query", "")
    if unknown := find_unknown(QueryDict(query).dict()):
        return unknown_filter_page(request, unknown)
    is_shared = "shared" in request.POST and request.user.has_perm(REVIEW)
    name = request.POST.get("name", "")
    error = save_view(request.user, name=name, query=query, is_shared=is_shared)
    return _redirect(request, query, error, done=_("View saved."))


@require_POST
def rename_view_view(request: HttpRequest, view: str) -> HttpResponse:
    """Rename an own view."""
    _check(request)
    error = rename_view(request.user, parse_id(view) or 0, name=request.POST.get("name", ""))
    return _redirect(request, request.POST.get("query", ""), error, done=_("View renamed."))


@require_POST
def delete_view_view(request: HttpRequest, view: str) -> HttpResponse:
    """Delete an own view."""
    _check(request)
    error = "" if delete_view(request.user, parse_id(view) or 0) else "gone"
    return _redirect(request, request.POST.get("query", ""), error, done=_("View deleted."))


def _check(request: HttpRequest) -> None:
    if not may_read_conversations(request.user):
        raise PermissionDenied


def _redirect(request: HttpRequest, query: str, error: str, *, done: str) -> HttpResponseRedirect:
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
    url = reverse("admin:copilot_admin_conversation_changelist")
    kept = normalize_query(read_query(query))
    return HttpResponseRedirect(f"{url}?{kept}" if kept and len(kept) <= MAX_QUERY_LENGTH else url)
