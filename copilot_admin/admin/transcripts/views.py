"""The pages of one conversation: the whole, a turn, one piece of data."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.transcripts.facts import facts_of, latest_turn, live_turns
from copilot_admin.admin.transcripts.keys import turn_of_key
from copilot_admin.admin.transcripts.page import EXTENT, MOST_HISTORY, page_of, parts_of
from copilot_admin.admin.transcripts.review_forms import VerdictForm, panel_of
from copilot_admin.admin.transcripts.turn_window import (
    TURNS_AT_ONCE,
    content_by_key,
    plan_of,
    shown_at_once,
)
from copilot_admin.admin.transcripts.way import Way, way_in
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record_read
from copilot_admin.models import Action, Conversation
from copilot_admin.privacy.holds import holds_of
from copilot_admin.review.reviews import Verdicts, turn_reviews, verdicts_on
from copilot_admin.transcripts.queries import (
    WHOLE,
    Extent,
    Tree,
    TurnView,
    read_messages,
    read_outline,
    read_tree,
    read_turns,
)
from copilot_admin.transcripts.search.phrases import parse_search

FOLDER = "admin/copilot_admin/conversation"
VIEW, JUDGE = "copilot_admin.view_conversation", "copilot_admin.change_conversation"

read_only = method_decorator([require_safe, never_cache])


class TranscriptViews(BaseAdmin[Conversation]):
    """What the stock admin has no page for; every view asks for the permission first."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        # Numbers and ids are plain texts: what is no id is asked for permission first, then a 404.
        name = "copilot_admin_conversation_{}".format
        own = [
            path("<str:pk>/turns/", wrap(self.turns_view), name=name("turns")),
            path("<str:pk>/turns/<str:turn>/", wrap(self.turn_view), name=name("turn")),
            path(
                "<str:pk>/turns/<str:turn>/history/",
                wrap(self.earlier_messages_view),
                name=name("history_before"),
            ),
            path("<str:pk>/state/", wrap(self.state_view), name=name("state")),
            path("<str:pk>/parts/<str:key>/", wrap(self.part_view), name=name("part")),
        ]
        return own + super().get_urls()

    @read_only
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        conversation = self.conversation(request, object_id)
        return self.conversation_page(request, conversation, way=way_in(request.GET))

    def conversation_page(
        self,
        request: HttpRequest,
        conversation: Conversation,
        *,
        way: Way,
        form: VerdictForm | None = None,
    ) -> TemplateResponse:
        """The page of a conversation; with a verdict that its author has to mend, if one is given."""
        all_branches = request.GET.get("branches") == "all"
        tree = read_tree(conversation)
        plan = plan_of(
            read_outline(conversation, tree),
            through=number_in(request.GET.get("turn", "")),
            all_branches=all_branches,
        )
        verdicts = self._verdicts(request, conversation)
        page = page_of(
            plan,
            read_turns(conversation, tree, plan.shown, extent=EXTENT),
            history=read_messages(conversation, tree, plan.outline.rest[-MOST_HISTORY:]),
            reviews=turn_reviews(conversation, plan.shown, verdicts, request.user),
        )
        panel = panel_of(conversation, request.user, way, verdicts, form=form)
        context = {
            "page": page,
            "all_branches": all_branches,
            "panel": panel,
            "holds": holds_of(conversation),
            "way": way,
            "phrases": _phrases(request),
        }
        return self.page(request, "page.html", conversation, **context)

    @read_only
    def turns_view(self, request: HttpRequest, pk: str) -> HttpResponse:
        """Turns that come into view, as many of those that were asked for as are sent at once."""
        conversation = self.conversation(request, pk)
        asked = {number_in(one) for one in request.GET.get("ids", "").split(",")[:TURNS_AT_ONCE]}
        tree = read_tree(conversation)
        outline = read_outline(conversation, tree)
        wanted = frozenset(shown_at_once([turn for turn in outline.turns if turn.id in asked]))
        verdicts = self._verdicts(request, conversation)
        parts = parts_of(
            outline,
            read_turns(conversation, tree, wanted, extent=EXTENT),
            reviews=turn_reviews(conversation, wanted, verdicts, request.user),
            all_branches=request.GET.get("branches") == "all",
        )
        context = {"parts": parts, **self.about(request, conversation)}
        return render(request, f"{FOLDER}/turns_fragment.html", context)

    @read_only
    def turn_view(self, request: HttpRequest, pk: str, turn: str) -> HttpResponse:
        """One turn and the facts of its conversation, for a page that is open."""
        conversation = self.conversation(request, pk)
        tree = read_tree(conversation)
        view = _turn(conversation, tree, number_in(turn), extent=EXTENT)
        verdicts = self._verdicts(request, conversation)
        reviews = turn_reviews(conversation, [view.id], verdicts, request.user)
        outline = read_outline(conversation, tree)
        (part,) = parts_of(outline, {view.id: view}, reviews=reviews)
        context = {"part": part, **self.about(request, conversation)}
        return render(request, f"{FOLDER}/turn_fragment.html", context)

    @read_only
    def earlier_messages_view(self, request: HttpRequest, pk: str, turn: str) -> HttpResponse:
        """All foreign messages before a question."""
        conversation = self.conversation(request, pk)
        view = _turn(conversation, read_tree(conversation), number_in(turn))
        return self.page(request, "history_page.html", conversation, earlier=view.history)

    @read_only
    def state_view(self, request: HttpRequest, pk: str) -> HttpResponse:
        """What is running, for a page that cannot be told."""
        conversation = self.conversation(request, pk, view="")
        return JsonResponse({"live": live_turns(conversation), "latest": latest_turn(conversation)})

    @read_only
    def part_view(self, request: HttpRequest, pk: str, key: str) -> HttpResponse:
        """All of a piece of data that the page shows the beginning of."""
        conversation = self.conversation(request, pk, view="data")
        tree = read_tree(conversation)
        turn = _turn(conversation, tree, turn_of_key(conversation, tree, key))
        content = content_by_key(turn, key, first=number_in(request.GET.get("from", "")) or 0)
        if content is None:
            raise Http404
        if "fragment" in request.GET:
            context = {"content": content, "conversation": conversation, "whole": True}
            return render(request, f"{FOLDER}/content.html", context)
        return self.page(request, "part.html", conversation, content=content, whole=True)

    def conversation(
        self, request: HttpRequest, pk: str, *, view: str = "conversation", of: str = ""
    ) -> Conversation:
        """The conversation of an address; that it was read, and how, stands in the audit trail.

        Raises:
            PermissionDenied: The person may not read any.
            Http404: There is none.
        """
        if not request.user.has_perm(VIEW):
            raise PermissionDenied
        rows = Conversation.objects.select_related("copilot")
        found = get_object_or_404(rows, pk=number_in(pk))
        if view:
            facts = {"view": view, "copilot": found.copilot.slug} | ({"of": of} if of else {})
            by, on = Actor.of(request), Subject.of(found)
            record_read(Action.READ, by=by, on=on, after=facts)
        return found

    def _verdicts(self, request: HttpRequest, conversation: Conversation) -> Verdicts:
        return verdicts_on(conversation, request.user)

    def about(self, request: HttpRequest, conversation: Conversation) -> dict[str, object]:
        """What a turn of an open page shows of its conversation."""
        return {
            "conversation": conversation,
            "facts": facts_of(conversation),
            "way": way_in(request.GET),
            "phrases": _phrases(request),
        }

    def page(
        self, request: HttpRequest, template: str, conversation: Conversation, **context: object
    ) -> TemplateResponse:
        """A page about a conversation, with what all of them show."""
        return TemplateResponse(
            request,
            f"{FOLDER}/{template}",
            {
                **self.page_context(request, conversation.title or _("Conversation")),
                "conversation": conversation,
                "facts": facts_of(conversation),
                **context,
            },
        )


def _turn(
    conversation: Conversation, tree: Tree, turn: int | None, *, extent: Extent = WHOLE
) -> TurnView:
    """Reads one turn.

    Raises:
        Http404: The conversation has none with this id.
    """
    found = {} if turn is None else read_turns(conversation, tree, {turn}, extent=extent)
    for view in found.values():
        return view
    raise Http404


def number_in(text: str) -> int | None:
    """An id out of an address; None when it cannot be one."""
    # 18 digits fit into the 64 bits of both databases.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def _phrases(request: HttpRequest) -> tuple[str, ...]:
    return tuple(parse_search(request.GET.get("q", "")).phrases)
