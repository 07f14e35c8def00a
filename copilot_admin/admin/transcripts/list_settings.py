"""Settings of the list of conversations: the reader's columns and saved views."""

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from copilot_admin.admin.transcripts.columns import COLUMNS, COLUMNS_COOKIE
from copilot_admin.admin.transcripts.list_page import reject_unknown
from copilot_admin.admin.transcripts.pages import LIST
from copilot_admin.copilots.config_types import remove_bidi_controls
from copilot_admin.models import SavedView
from copilot_admin.models.review import MAX_VIEW_NAME_LENGTH
from copilot_admin.transcripts.access import REVIEW
from copilot_admin.transcripts.search.list_query import (
    MAX_QUERY_LENGTH,
    normalize_query,
    read_query,
)
from protocol.json import clean_text

URL = "admin:copilot_admin_conversation_changelist"
YEAR_SECONDS = 365 * 24 * 3600


def choose_columns_view(request: HttpRequest) -> HttpResponse:
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


def save_view_view(request: HttpRequest) -> HttpResponse:
    """Save a view, in place of an own one with this name."""
    given = read_query(request.POST.get("query", ""))
    if rejected := reject_unknown(request, given):
        return rejected
    query = normalize_query(given)
    name, error = _read_name(request)
    if not error and not query:
        error = _("Set a filter or search for something before you save a view.")
    if len(query) > MAX_QUERY_LENGTH:
        error = _("The filters are too long to save. Select fewer values.")
    if not error:
        is_shared = "shared" in request.POST and request.user.has_perm(REVIEW)
        values = {"query": query, "is_shared": is_shared}
        SavedView.objects.update_or_create(owner_id=request.user.pk, name=name, defaults=values)
    return _redirect(request, error, done=_("View saved."))


def rename_view_view(request: HttpRequest, view: int) -> HttpResponse:
    name, error = _read_name(request)
    own = SavedView.objects.filter(owner=request.user.pk)
    if own.filter(name=name).exclude(pk=view).exists():
        error = _("You already have a view with this name. Choose another name.")
    if not error and not own.filter(pk=view).update(name=name):
        error = _("This view was deleted or belongs to someone else.")
    return _redirect(request, error, done=_("View renamed."))


def delete_view_view(request: HttpRequest, view: int) -> HttpResponse:
    """Delete an own view, or as a superuser a shared one."""
    user = request.user
    allowed = Q(owner=user.pk) | (Q(is_shared=True) if user.is_superuser else Q(pk__in=()))
    deleted, _rows = SavedView.objects.filter(allowed, pk=view).delete()
    error = "" if deleted else _("This view was deleted or belongs to someone else.")
    return _redirect(request, error, done=_("View deleted."))


def _read_name(request: HttpRequest) -> tuple[str, str]:
    """Return the name of a view and its error, or ""."""
    name = " ".join(remove_bidi_controls(clean_text(request.POST.get("name", ""))).split())
    if not name:
        return name, _("Enter a name for the view.")
    if len(name) > MAX_VIEW_NAME_LENGTH:
        most = {"max": MAX_VIEW_NAME_LENGTH}
        return name, _("Use at most %(max)s characters for the name.") % most
    return name, ""


def _redirect(request: HttpRequest, error: str, *, done: str) -> HttpResponseRedirect:
    messages.add_message(request, messages.ERROR if error else messages.SUCCESS, error or done)
    kept = normalize_query(read_query(request.POST.get("query", "")))
    is_short = len(kept) <= MAX_QUERY_LENGTH
    return HttpResponseRedirect(f"{reverse(URL)}?{kept}" if kept and is_short else reverse(URL))
