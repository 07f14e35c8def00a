"""Conversations in the admin: the list, the page of a conversation, and what can be done there."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from copilot_admin.admin.common.base import ReadOnlyAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts import (
    bulk,
    list_page,
    raw,
    review_actions,
    saved_views,
    test_cases,
    views,
)
from copilot_admin.admin.transcripts.pages import read_page
from copilot_admin.models import Conversation
from copilot_admin.transcripts.access import may_read_conversations, visible_conversations

VIEWS: tuple[tuple[str, str, Callable[..., HttpResponse]], ...] = (
    ("bulk/", "bulk", bulk.bulk_view),
    ("columns/", "columns", list_page.choose_columns_view),
    ("learn/", "learn", test_cases.save_turns_view),
    ("views/save/", "view_save", saved_views.save_view_view),
    ("views/<str:view>/rename/", "view_rename", saved_views.rename_view_view),
    ("views/<str:view>/delete/", "view_delete", saved_views.delete_view_view),
    ("<str:pk>/row/", "row", read_page(list_page.row_view)),
    ("<str:pk>/panel/", "panel", views.panel_view),
    ("<str:pk>/chat/", "chat", views.chat_view),
    ("<str:pk>/go/<str:direction>/", "adjacent", views.adjacent_view),
    ("<str:pk>/parts/<str:key>/", "part", views.part_view),
    ("<str:pk>/turns/<str:turn>/", "turn", views.turn_view),
    ("<str:pk>/turns/<str:turn>/trace/", "trace", views.trace_view),
    ("<str:pk>/turns/<str:turn>/learn/", "keep", test_cases.save_turn_view),
    ("<str:pk>/turns/<str:turn>/question/", "question", raw.question_view),
    ("<str:pk>/turns/<str:turn>/verdict/", "turn_verdict", review_actions.turn_verdict_view),
    ("<str:pk>/turns/<str:turn>/notes/", "notes", review_actions.add_note_view),
    ("<str:pk>/notes/<str:note>/", "note", review_actions.note_view),
    ("<str:pk>/runs/<str:run>/", "run", raw.run_view),
    ("<str:pk>/runs/<str:run>/prompt/", "prompt", views.prompt_view),
    ("<str:pk>/runs/<str:run>/request/", "request", raw.request_view),
    ("<str:pk>/runs/<str:run>/curl/", "curl", raw.curl_view),
    ("<str:pk>/review/", "judge", review_actions.verdict_view),
    ("<str:pk>/skip/", "skip", review_actions.skip_view),
)


@admin.register(Conversation, site=site)
class ConversationAdmin(ReadOnlyAdmin[Conversation]):
    """Conversations are read and reviewed here; nobody changes what was said.

    A column of the list is an entry of `COLUMNS` in `columns.py`; a filter is an entry of `FILTERS`
    in `transcripts/filters.py`.
    """

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        own = [
            path(route, wrap(view), name=f"copilot_admin_conversation_{name}")
            for route, name, view in VIEWS
        ]
        return own + super().get_urls()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return visible_conversations(request.user)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return list_page.conversation_list(request)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        return read_page(views.conversation_page)(request, object_id)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return super().history_view(request, object_id, extra_context)

    def has_view_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return may_read_conversations(request.user)
