"""Transcripts in the admin: the list, and the page of a conversation."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.base import ReadOnlyAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts.cells import (
    box_cell,
    judged_cell,
    outcome_cell,
    question_cell,
    user_cell,
    when_cell,
)
from copilot_admin.admin.transcripts.learning import LearningViews, may_learn
from copilot_admin.admin.transcripts.list import TranscriptList
from copilot_admin.admin.transcripts.run_views import AskingAgainViews
from copilot_admin.admin.transcripts.saving import SavedViews
from copilot_admin.admin.transcripts.views import VIEW
from copilot_admin.models import Conversation, EndUser
from copilot_admin.pricing.money import format_cost_sums
from copilot_admin.rendering.text import duration, number_text

FOLDER = "admin/copilot_admin/conversation"


@admin.register(Conversation, site=site)
class ConversationAdmin(ReadOnlyAdmin[Conversation], SavedViews, LearningViews, AskingAgainViews):
    """Transcripts are read and judged here; what was said is changed nowhere.

    A column is a method with `@admin.display` and its name in `list_display`; a filter is an entry in
    `transcripts/filters.py`.
    """

    change_list_template = f"{FOLDER}/change_list.html"
    list_display = (
        "question",
        "outcome",
        "copilot_name",
        "when",
        "n_turns",
        "n_tokens",
        "n_dollars",
        "ttft",
        "judged",
    )
    list_display_links = ("question",)
    list_select_related = ("copilot", "user")
    list_per_page = 50
    search_fields = ("title",)  # that there is a field; the list itself searches
    search_help_text = _("Words, a “phrase”, or the id of a run, trace or conversation")
    show_facets = admin.ShowFacets.NEVER  # counts of each choice would read the whole log
    sortable_by = ()
    actions = None
    ordering = ("-last_at", "-id")

    def get_list_display(self, request: HttpRequest) -> Any:
        shown = tuple(super().get_list_display(request))
        if EndUser.objects.exists():
            place = shown.index("copilot_name") + 1
            shown = (*shown[:place], "asked_by", *shown[place:])
        return ("chosen", *shown) if may_learn(request) else shown

    @admin.display(description=_("Choose"))
    def chosen(self, conversation: Conversation) -> SafeString:
        """A box of the form below the list."""
        return box_cell(conversation)

    @admin.display(description=_("First question"))
    def question(self, conversation: Conversation) -> SafeString:
        """The title, in its own direction of writing."""
        row: Any = conversation
        return question_cell(
            conversation,
            getattr(row, "excerpt", ()),
            turns=getattr(row, "found_turns", 0),
            by_id=getattr(row, "found_by_id", False),
        )

    @admin.display(description=_("Copilot"))
    def copilot_name(self, conversation: Conversation) -> str:
        """The copilot that was asked."""
        return conversation.copilot.name

    @admin.display(description=_("User"))
    def asked_by(self, conversation: Conversation) -> SafeString:
        """Who asked, as a token or a proxy named him."""
        return user_cell(conversation.user)

    @admin.display(description=_("When"))
    def when(self, conversation: Conversation) -> SafeString:
        """When somebody last asked in the conversation."""
        return when_cell(conversation.last_at)

    @admin.display(description=_("Outcome"))
    def outcome(self, conversation: Conversation) -> SafeString:
        """How the last answer ended; whether an earlier one went wrong."""
        row: Any = conversation
        return outcome_cell(conversation, row.errors)

    @admin.display(description=_("Tokens"))
    def n_tokens(self, conversation: Conversation) -> SafeString:
        """How many tokens all answers of the conversation took together."""
        return format_html('<span class="ca-nums">{}</span>', number_text(conversation.tokens))

    @admin.display(description=_("Cost"))
    def n_dollars(self, conversation: Conversation) -> SafeString:
        """What all answers of the conversation cost together, as far as it is known."""
        cost = format_cost_sums(conversation)
        return format_html('<span class="ca-nums" title="{}">{}</span>', cost.sentence, cost.text)

    @admin.display(description=_("First token"))
    def ttft(self, conversation: Conversation) -> str:
        """How long the last answer took to begin."""
        return "–" if conversation.ttft_ms is None else duration(conversation.ttft_ms)  # noqa: RUF001  # a dash

    @admin.display(description=_("Feedback"))
    def judged(self, conversation: Conversation) -> SafeString:
        """The thumbs of the people who asked."""
        row: Any = conversation
        return judged_cell(conversation, row.reasons)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[TranscriptList]:
        return TranscriptList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        return queryset, False

    def has_view_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return request.user.has_perm(VIEW)
