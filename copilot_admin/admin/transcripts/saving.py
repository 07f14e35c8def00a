"""Views of the transcript list are saved, shared, renamed and deleted."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.transcripts.filter_form import refused_page
from copilot_admin.admin.transcripts.views import VIEW, number_in
from copilot_admin.audit.parties import Actor
from copilot_admin.audit.recording import record_search
from copilot_admin.models import Conversation
from copilot_admin.models.review import MAX_VIEW_NAME_LENGTH
from copilot_admin.transcripts.search.saved_views import (
    MAX_QUERY_LENGTH,
    SEARCH_PARAMETER,
    delete_view,
    list_views,
    normalize_query,
    read_query,
    rename_view,
    save_view,
)

SHARE = "copilot_admin.change_conversation"


class SavedViews(BaseAdmin[Conversation]):
    """The list's saved views."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "copilot_admin_conversation_{}".format
        own = [
            path("views/save/", wrap(self.save_view), name=name("view_save")),
            path("views/<str:view>/rename/", wrap(self.rename_view_view), name=name("view_rename")),
            path("views/<str:view>/delete/", wrap(self.delete_view_view), name=name("view_delete")),
        ]
        return own + super().get_urls()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not request.user.has_perm(VIEW):
            raise PermissionDenied
        if (refused := refused_page(request, request.META.get("QUERY_STRING", ""))) is not None:
            return refused
        current = normalize_query(request.GET.dict())
        context = {
            "views": list_views(request.user, current=current),
            "current_query": current,
            "may_share": request.user.has_perm(SHARE),
        }
        response = super().changelist_view(request, {**context, **(extra_context or {})})
        if response.status_code == HTTPStatus.OK:
            given = request.GET.dict()
            record_search(
                Actor.of(request), "conversation", given, words=given.pop(SEARCH_PARAMETER, "")
            )
        return response

    @method_decorator(require_POST)
    def save_view(self, request: HttpRequest) -> HttpResponse:
        """Keeps the filters and words of the list under a name."""
        if not request.user.has_perm(VIEW):
            raise PermissionDenied
        query = request.POST.get("query", "")
        if (refused := refused_page(request, query)) is not None:
            return refused
        is_shared = "shared" in request.POST and request.user.has_perm(SHARE)
        name = request.POST.get("name", "")
        why = save_view(request.user, name=name, query=query, is_shared=is_shared)
        _say(request, why, done=_("The view is saved."))
        return _back(query)

    @method_decorator(require_POST)
    def rename_view_view(self, request: HttpRequest, view: str) -> HttpResponse:
        """Gives an own view another name."""
        if not request.user.has_perm(VIEW):
            raise PermissionDenied
        name = request.POST.get("name", "")
        why = rename_view(request.user, number_in(view) or 0, name=name)
        _say(request, why, done=_("The view is renamed."))
        return _back(request.POST.get("query", ""))

    @method_decorator(require_POST)
    def delete_view_view(self, request: HttpRequest, view: str) -> HttpResponse:
        """Deletes an own view."""
        if not request.user.has_perm(VIEW):
            raise PermissionDenied
        if delete_view(request.user, number_in(view) or 0):
            messages.success(request, _("The view is deleted."))
        else:
            _say(request, "gone", done="")
        return _back(request.POST.get("query", ""))


def _say(request: HttpRequest, why: str, *, done: str) -> None:
    words = {
        "": done,
        "unnamed": _("Give the view a name."),
        "long": _("A name has %(most)s characters at the most.") % {"most": MAX_VIEW_NAME_LENGTH},
        "empty": _("Choose a filter or type words first: a view keeps those."),
        "much": _("The filters are too long for a view. Choose less in them."),
        "taken": _("Another view of yours has that name. Choose a different one."),
        "gone": _("That view is not yours, or it is gone already."),
    }
    messages.add_message(request, messages.ERROR if why else messages.SUCCESS, words[why])


def _back(query: str) -> HttpResponseRedirect:
    url = reverse("admin:copilot_admin_conversation_changelist")
    kept = normalize_query(read_query(query))
    return HttpResponseRedirect(f"{url}?{kept}" if kept and len(kept) <= MAX_QUERY_LENGTH else url)
