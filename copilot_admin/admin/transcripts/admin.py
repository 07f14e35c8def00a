"""Conversations in the admin: the list, the page of a conversation, and what can be done there."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from copilot_admin.admin.common.base import ReadOnlyAdmin
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
from copilot_admin.admin.transcripts.pages import parse_id, read_page
from copilot_admin.models import Conversation
from copilot_admin.transcripts.access import may_read_conversations, visible_conversations

VIEWS: tuple[tuple[str, str, Callable[..., HttpResponse]], ...] = (
    ("bulk/", "bulk", bulk.bulk_view),
    ("columns/", "columns", list_settings.choose_columns_view),
    ("learn/", "learn", test_cases.save_turns_view),
    ("views/save/", "view_save", list_settings.save_view_view),
    ("views/<id:view>/rename/", "view_rename", list_settings.rename_view_view),
    ("views/<id:view>/delete/", "view_delete", list_settings.delete_view_view),
    ("<id:pk>/row/", "row", read_page(list_page.row_view)),
    ("<id:pk>/panel/", "panel", views.panel_view),
    ("<id:pk>/chat/", "chat", views.chat_view),
    ("<id:pk>/go/<str:direction>/", "adjacent", views.adjacent_view),
    ("<id:pk>/parts/<str:key>/", "part", views.part_view),
    ("<id:pk>/turns/<id:turn>/", "turn", views.turn_view),
    ("<id:pk>/turns/<id:turn>/trace/", "trace", views.trace_view),
    ("<id:pk>/turns/<id:turn>/learn/", "keep", test_cases.save_turn_view),
    ("<id:pk>/turns/<id:turn>/question/", "question", raw.question_view),
    ("<id:pk>/turns/<id:turn>/verdict/", "turn_verdict", review_actions.turn_verdict_view),
    ("<id:pk>/turns/<id:turn>/notes/", "notes", review_actions.add_note_view),
    ("<id:pk>/notes/<id:note>/", "note", review_actions.note_view),
    ("<id:pk>/runs/<uuid:run>/", "run", raw.run_view),
    ("<id:pk>/runs/<uuid:run>/prompt/", "prompt", views.prompt_view),
    ("<id:pk>/runs/<uuid:run>/request/", "request", raw.request_view),
    ("<id:pk>/runs/<uuid:run>/curl/", "curl", raw.curl_view),
    ("<id:pk>/review/", "judge", review_actions.verdict_view),
    ("<id:pk>/skip/", "skip", review_actions.skip_view),
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
        return read_page(views.conversation_page)(request, parse_id(object_id) or 0)

    def has_view_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return may_read_conversations(request.user)
