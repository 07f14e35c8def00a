"""Shared parts of the conversation pages: permission, audit log, rendering."""

from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from copilot_admin.admin.site.site import site
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record, record_read
from copilot_admin.models import Action, Conversation
from copilot_admin.transcripts.access import REVIEW, may_read_conversations, visible_conversations

FOLDER = "admin/copilot_admin/conversation"

View = Callable[..., HttpResponse]


def read_page(view: View) -> View:
    """Allow only GET and HEAD, and keep the response out of caches."""
    return never_cache(require_safe(view))


def parse_id(text: str) -> int | None:
    """Return the id in a URL; None if it can't be one."""
    # 18 digits fit into the 64 bits of both databases.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def load_conversation(
    request: HttpRequest, pk: str, *, view: str = "conversation", of: str = ""
) -> Conversation:
    """Return the conversation of a URL, and record that it was read.

    Args:
        request: Of the reader.
        pk: From the URL.
        view: Kind of page for the audit trail; "" records nothing.
        of: Part of the conversation that was read.

    Raises:
        PermissionDenied: The reader may read no conversations.
        Http404: There is none that they may read.
    """
    if not may_read_conversations(request.user):
        raise PermissionDenied
    rows = visible_conversations(request.user).select_related("copilot", "user")
    found = get_object_or_404(rows, pk=parse_id(pk))
    if view:
        facts = {"view": view, "copilot": found.copilot.slug} | ({"of": of} if of else {})
        record_read(Action.READ, by=Actor.of(request), on=Subject.of(found), after=facts)
    return found


def load_for_review(request: HttpRequest, pk: str) -> Conversation:
    """Return a conversation for a reviewer.

    Raises:
        PermissionDenied: The person may not review.
        Http404: There is no such conversation.
    """
    if not request.user.has_perm(REVIEW):
        raise PermissionDenied
    return load_conversation(request, pk)


def audit(
    request: HttpRequest,
    action: Action,
    row: Model,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """Record a change in the audit trail."""
    record(action, by=Actor.of(request), on=Subject.of(row), before=before, after=after)


def render_page(
    request: HttpRequest, template: str, title: str, **context: Any
) -> TemplateResponse:
    """Return a page of the admin from a template of conversations."""
    values = {**site.each_context(request), "title": title, "opts": Conversation._meta, **context}
    return TemplateResponse(request, f"{FOLDER}/{template}", values)


def title_of(conversation: Conversation) -> str:
    return conversation.title or _("Conversation")


def is_fragment(request: HttpRequest) -> bool:
    """Return whether a script asks for a part of a page."""
    return request.headers.get("HX-Request") == "true" or "fragment" in request.GET
