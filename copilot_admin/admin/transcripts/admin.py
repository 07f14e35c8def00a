"""Conversations in the admin: the list, the page of a conversation, and what can be done there."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from copilot_admin.admin.common.base import ReadOnlyAdmin, number_in
from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts import (
    bulk,
    list_page,
    list_settings,
    raw,
    review_actions,
    test_cases,
    views,
)
from copilot_admin.models import Conversation
from copilot_admin.transcripts.access import may_read_conversations, visible_conversations

View = Callable[..., HttpResponse]
READ, POST = require_safe, require_POST
FORM = require_http_methods(["GET", "HEAD", "POST"])
VIEWS: tuple[tuple[str, str, Callable[[View], View], View], ...] = (
    ("bulk/", "bulk", POST, bulk.bulk_view),
    ("columns/", "columns", POST, list_settings.choose_columns_view),
    ("learn/", "learn", FORM, test_cases.save_turns_view),
    ("views/save/", "view_save", POST, list_settings.save_view_view),
    ("views/<id:view>/rename/", "view_rename", POST, list_settings.rename_view_view),
    ("views/<id:view>/delete/", "view_delete", POST, list_settings.delete_view_view),
    ("<id:pk>/row/", "row", READ, list_page.row_view),
    ("<id:pk>/panel/", "panel", READ, views.panel_view),
    ("<id:pk>/chat/", "chat", READ, views.chat_view),
    ("<id:pk>/go/<str:direction>/", "adjacent", READ, views.adjacent_view),
    ("<id:pk>/parts/<str:key>/", "part", READ, views.part_view),
    ("<id:pk>/turns/<id:turn>/", "turn", READ, views.turn_view),
    ("<id:pk>/turns/<id:turn>/trace/", "trace", READ, views.trace_view),
    ("<id:pk>/turns/<id:turn>/learn/", "keep", POST, test_cases.save_turn_view),
    ("<id:pk>/turns/<id:turn>/question/", "question", READ, raw.question_view),
    ("<id:pk>/turns/<id:turn>/verdict/", "turn_verdict", FORM, review_actions.turn_verdict_view),
    ("<id:pk>/turns/<id:turn>/notes/", "notes", POST, review_actions.add_note_view),
    ("<id:pk>/notes/<id:note>/", "note", POST, review_actions.note_view),
    ("<id:pk>/runs/<uuid:run>/", "run", READ, raw.run_view),
    ("<id:pk>/runs/<uuid:run>/prompt/", "prompt", READ, views.prompt_view),
    ("<id:pk>/runs/<uuid:run>/request/", "request", READ, raw.request_view),
    ("<id:pk>/runs/<uuid:run>/curl/", "curl", READ, raw.curl_view),
    ("<id:pk>/review/", "judge", POST, review_actions.verdict_view),
    ("<id:pk>/skip/", "skip", POST, review_actions.skip_view),
)


def _for_readers(view: View) -> View:
    def respond(request: HttpRequest, **names: Any) -> HttpResponse:
        if not may_read_conversations(request.user):
            raise PermissionDenied
        return view(request, **names)

    return respond


@admin.register(Conversation, site=site)
class ConversationAdmin(ReadOnlyAdmin[Conversation]):
    """Conversations are read and reviewed here; nobody changes what was said.

    A column of the list is an entry of `COLUMNS` in `columns.py`; a filter is an entry of `FILTERS`
    in `transcripts/filters.py`.
    """

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [
            path(route, wrap(allow(_for_readers(view))), name=f"copilot_admin_conversation_{name}")
            for route, name, allow, view in VIEWS
        ]
        return own + super().get_urls()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return visible_conversations(request.user)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return READ(_for_readers(list_page.conversation_list))(request)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        view = READ(_for_readers(views.conversation_page))
        return view(request, pk=number_in(object_id))

    def has_view_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return may_read_conversations(request.user)
