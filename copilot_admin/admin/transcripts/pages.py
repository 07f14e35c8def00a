"""Shared parts of the pages of conversations: access, audit, rendering, and the way back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from copilot_admin.admin.common.base import number_in
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor, Subject, record_read
from copilot_admin.models import Action, Conversation
from copilot_admin.transcripts.access import REVIEW, visible_conversations

FOLDER = "admin/copilot_admin/conversation"
LIST = "_changelist_filters"  # as links of Django's change lists name it
QUEUE = "queue"
PLACE = "place"
MAX_PLACE_LENGTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnContext:
    """Origin of a reviewer, a filtered list or a review queue, carried in the query string."""

    filters: str = ""  # query string of the list
    queue: int = 0  # no queue
    place: str = ""  # of the conversation in the list when it was opened; new questions move it

    @property
    def fields(self) -> Mapping[str, str]:
        named = {LIST: self.filters, QUEUE: str(self.queue or ""), PLACE: self.place}
        return {name: value for name, value in named.items() if value}

    @property
    def inputs(self) -> SafeString:
        """The context as hidden fields of a form."""
        inputs = '<input type="hidden" name="{}" value="{}">'
        return format_html_join("", inputs, self.fields.items())

    @property
    def query(self) -> str:
        """The context as the query string of a URL that has no other."""
        return f"?{urlencode(self.fields)}" if self.fields else ""

    def url_of(self, name: str, *args: object) -> str:
        return reverse(f"admin:copilot_admin_conversation_{name}", args=args) + self.query

    @property
    def list_url(self) -> str:
        if self.queue:
            return reverse("admin:copilot_admin_reviewqueue_change", args=[self.queue])
        url = reverse("admin:copilot_admin_conversation_changelist")
        return f"{url}?{self.filters}" if self.filters else url


def read_context(data: QueryDict) -> ReturnContext:
    place = data.get(PLACE, "")
    return ReturnContext(
        filters=data.get(LIST, ""),
        queue=number_in(data.get(QUEUE)),
        place=place if len(place) <= MAX_PLACE_LENGTH else "",
    )


def load_conversation(
    request: HttpRequest, pk: int, *, view: str = "conversation", of: object = ""
) -> Conversation:
    """Return the conversation of a URL, and record that it was read.

    `view` is the kind of page in the audit trail, "" records nothing; `of` is the part that was read.
    """
    rows = visible_conversations(request.user).select_related("copilot", "user")
    found = get_object_or_404(rows, pk=pk)
    if view:
        facts = {"view": view, "copilot": found.copilot.slug} | ({"of": str(of)} if of else {})
        record_read(Action.READ, by=Actor.of(request), on=Subject.of(found), after=facts)
    return found


def load_for_review(request: HttpRequest, pk: int) -> Conversation:
    """Return a conversation for a reviewer, or raise like `load_conversation`."""
    if not request.user.has_perm(REVIEW):
        raise PermissionDenied
    return load_conversation(request, pk)


def render_page(
    request: HttpRequest, template: str, title: str, **context: Any
) -> TemplateResponse:
    values = {**site.each_context(request), "title": title, "opts": Conversation._meta, **context}
    return TemplateResponse(request, f"{FOLDER}/{template}", values)


def render_part(
    request: HttpRequest, part: str, page: str, conversation: Conversation, **context: Any
) -> HttpResponse:
    """Return a part of a page to a script, and a page with this part to a browser."""
    context["conversation"] = conversation
    if is_fragment(request):
        return TemplateResponse(request, f"{FOLDER}/{part}", context)
    return render_page(request, page, title_of(conversation), **context)


def title_of(conversation: Conversation) -> str:
    return conversation.title or _("Conversation")


def is_fragment(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true" or "fragment" in request.GET
