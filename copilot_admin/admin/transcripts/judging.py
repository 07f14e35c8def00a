"""Pages with which reviewers judge: verdicts, notes, states, and the way to the next conversation."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from copilot_admin.admin.transcripts.beside import find_neighbour
from copilot_admin.admin.transcripts.gone import gone_page, told_if_deleted
from copilot_admin.admin.transcripts.onward import next_in_queue
from copilot_admin.admin.transcripts.review_forms import VerdictForm
from copilot_admin.admin.transcripts.views import JUDGE, TranscriptViews, number_in, read_only
from copilot_admin.admin.transcripts.way import NEWER, OLDER, Way, way_in
from copilot_admin.models import (
    Action,
    Conversation,
    ReviewQueue,
    ReviewState,
    Turn,
    TurnNote,
    Verdict,
)
from copilot_admin.review.notes import LONGEST, add_note, own_note
from copilot_admin.review.queues import finish, set_by_hand, skip
from copilot_admin.transcripts.verdicts import (
    GivenVerdict,
    active_criteria,
    save_verdict,
    verdict_of,
)

post_only = method_decorator(require_POST)
form_page = method_decorator(require_http_methods(["GET", "HEAD", "POST"]))


class JudgingViews(TranscriptViews):
    """Reviewers may judge; whoever may only read is refused."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "copilot_admin_conversation_{}".format
        own = [
            path("<str:pk>/judge/", wrap(self.judge_view), name=name("judge")),
            path("<str:pk>/review-state/", wrap(self.set_state_view), name=name("set_state")),
            path("<str:pk>/skip/", wrap(self.skip_view), name=name("skip")),
            path("<str:pk>/beside/<str:direction>/", wrap(self.beside_view), name=name("beside")),
            path(
                "<str:pk>/turns/<str:turn>/verdict/",
                wrap(self.turn_verdict_view),
                name=name("turn_verdict"),
            ),
            path("<str:pk>/turns/<str:turn>/notes/", wrap(self.add_note_view), name=name("notes")),
            path("<str:pk>/notes/<str:note>/", wrap(self.note_view), name=name("note")),
        ]
        return own + super().get_urls()

    @post_only
    def judge_view(self, request: HttpRequest, pk: str) -> HttpResponse:
        """Keeps a verdict on the conversation; goes on to the next one if that was asked for."""
        way = way_in(request.POST)
        try:
            conversation = self._judged(request, pk)
        except Http404:
            return self._on_from_deleted(request, way)
        form = VerdictForm(request.POST, criteria=active_criteria())
        if not form.is_valid():
            return self.conversation_page(request, conversation, way=way, form=form)
        with transaction.atomic():
            finish(conversation.pk, request.user, now=timezone.now())
            self._keep_verdict(request, conversation, form.judged())
        messages.success(request, _("Your verdict is kept."))
        if "_next" not in request.POST:
            return HttpResponseRedirect(way.to("change", pk) + "#review")
        if way.queue is not None:
            return next_in_queue(request, get_object_or_404(ReviewQueue, pk=way.queue))
        return HttpResponseRedirect(self._beside(request, conversation, way, OLDER))

    @post_only
    @told_if_deleted
    def set_state_view(self, request: HttpRequest, pk: str) -> HttpResponse:
        """Sets how far the review has come."""
        conversation = self._judged(request, pk)
        state = request.POST.get("state", "")
        if state not in ReviewState.values:
            raise Http404
        with transaction.atomic():
            set_by_hand(conversation.pk, ReviewState(state))
            if state != conversation.review_state:
                was, now = {"review_state": conversation.review_state}, {"review_state": state}
                self.audit(request, Action.CHANGED, conversation, before=was, after=now)
        return HttpResponseRedirect(way_in(request.POST).to("change", pk))

    @post_only
    def skip_view(self, request: HttpRequest, pk: str) -> HttpResponse:
        """Gives a conversation of a queue back, and goes on to another one."""
        way = way_in(request.POST)
        try:
            conversation = self._judged(request, pk)
        except Http404:
            return self._on_from_deleted(request, way)
        queue = get_object_or_404(ReviewQueue, pk=way.queue)
        after = skip(queue, conversation.pk, request.user, now=timezone.now())
        return next_in_queue(request, queue, after=after)

    def _on_from_deleted(self, request: HttpRequest, way: Way) -> HttpResponse:
        said = _("The conversation was deleted while you read it.")
        if way.queue is not None:
            queue = get_object_or_404(ReviewQueue, pk=way.queue)
            messages.warning(request, said)
            return next_in_queue(request, queue)
        if not way.place:
            return gone_page(request, way)
        messages.warning(request, said)
        return HttpResponseRedirect(way.list_address)

    @read_only
    def beside_view(self, request: HttpRequest, pk: str, direction: str) -> HttpResponse:
        """Leads to the conversation before or after in the list; says so at its end."""
        way = way_in(request.GET)
        try:
            conversation = self.conversation(request, pk, view="")
        except Http404:
            return self._on_from_deleted(request, way)
        if direction not in (OLDER, NEWER):
            raise Http404
        address = self._beside(request, conversation, way, direction)
        return HttpResponseRedirect(address)

    @form_page
    @told_if_deleted
    def turn_verdict_view(self, request: HttpRequest, pk: str, turn: str) -> HttpResponse:
        """The verdict on one question and its answer."""
        conversation = self._judged(request, pk)
        asked = self._asked(conversation, turn)
        before = verdict_of(conversation, request.user, turn=asked.pk)
        sent = request.POST if request.method == "POST" else None
        form = VerdictForm(sent, criteria=active_criteria(), verdict=before)
        if form.is_valid():
            with transaction.atomic():
                self._keep_verdict(request, conversation, form.judged(), turn=asked.pk)
            messages.success(request, _("Your verdict is kept."))
            return self._to_turn(conversation, asked, way_in(request.POST))
        question = asked.human_node.text if asked.human_node else ""
        way = way_in(request.POST or request.GET)
        context = {"form": form, "question": question, "way": way}
        back = way.to("change", pk)
        return self.page(request, "turn_verdict.html", conversation, way_back=back, **context)

    @post_only
    @told_if_deleted
    def add_note_view(self, request: HttpRequest, pk: str, turn: str) -> HttpResponse:
        """Writes a note in the margin of a turn."""
        conversation = self._judged(request, pk)
        asked = self._asked(conversation, turn)
        text = request.POST.get("text", "").strip()
        if fault := _fault(text):
            return self._note_page(request, conversation, text=text, fault=fault)
        with transaction.atomic():
            added = add_note(asked, request.user, text)
            self._audit_note(request, Action.ADDED, conversation, added)
        return self._to_turn(conversation, asked, way_in(request.POST))

    @form_page
    @told_if_deleted
    def note_view(self, request: HttpRequest, pk: str, note: str) -> HttpResponse:
        """Changes or deletes a note of one's own."""
        conversation = self._judged(request, pk)
        number = number_in(note)
        own = own_note(conversation, number, request.user) if number is not None else None
        if own is None:
            raise Http404
        if request.method != "POST":
            return self._note_page(request, conversation, text=own.text, is_old=True)
        text = request.POST.get("text", "").strip()
        if "_delete" in request.POST:
            with transaction.atomic():
                self._audit_note(request, Action.DELETED, conversation, own)
                own.delete()
        elif fault := _fault(text):
            return self._note_page(request, conversation, text=text, fault=fault, is_old=True)
        else:
            with transaction.atomic():
                own.text = text
                own.save(update_fields=["text", "updated_at"])
                self._audit_note(request, Action.CHANGED, conversation, own)
        return self._to_turn(conversation, own.turn, way_in(request.POST))

    def _keep_verdict(
        self,
        request: HttpRequest,
        conversation: Conversation,
        judged: GivenVerdict,
        *,
        turn: int | None = None,
    ) -> None:
        """Keeps a verdict; the trail says that and when, its words stand in the transcript alone."""
        old = verdict_of(conversation, request.user, turn=turn)
        verdict = save_verdict(conversation, request.user, judged, turn=turn)
        about = {"conversation": conversation.pk} | ({} if turn is None else {"turn": turn})
        action = Action.CHANGED if old else Action.ADDED
        before, after = _told(old), {**about, **_told(verdict)}
        self.audit(request, action, verdict, before=before, after=after)

    def _audit_note(
        self, request: HttpRequest, action: Action, conversation: Conversation, note: TurnNote
    ) -> None:
        about = {"conversation": conversation.pk, "turn": note.turn_id}
        self.audit(request, action, note, after=about)

    def _note_page(
        self,
        request: HttpRequest,
        conversation: Conversation,
        *,
        text: str,
        fault: str = "",
        is_old: bool = False,
    ) -> HttpResponse:
        context: dict[str, Any] = {"text": text, "fault": fault, "is_old": is_old}
        way = way_in(request.POST or request.GET)
        back = way.to("change", conversation.pk)
        return self.page(request, "note.html", conversation, way=way, way_back=back, **context)

    def _judged(self, request: HttpRequest, pk: str) -> Conversation:
        """A conversation for somebody who may judge it.

        Raises:
            PermissionDenied: He may only read, or not even that.
        """
        if not request.user.has_perm(JUDGE):
            raise PermissionDenied
        return self.conversation(request, pk)

    def _asked(self, conversation: Conversation, turn: str) -> Turn:
        rows = Turn.objects.filter(conversation=conversation).defer("search_text")
        return get_object_or_404(rows.select_related("human_node"), pk=number_in(turn))

    def _to_turn(self, conversation: Conversation, turn: Turn, way: Way) -> HttpResponse:
        address = way.to("change", conversation.pk)
        mark = "&" if "?" in address else "?"
        return HttpResponseRedirect(f"{address}{mark}turn={turn.pk}#turn-{turn.pk}")

    def _beside(
        self, request: HttpRequest, conversation: Conversation, way: Way, direction: str
    ) -> str:
        found = find_neighbour(
            self,
            request,
            conversation,
            filters=way.filters,
            direction=direction,
            place=way.place,
        )
        if found.pk is not None:
            return replace(way, place="").to("change", found.pk)
        at_the_end = {
            OLDER: _("That was the last conversation of the list."),
            NEWER: _("That was the first conversation of the list."),
        }
        further = _(
            "There is none among the conversations that were searched. Narrow your filters."
        )
        messages.info(request, at_the_end[direction] if found.is_whole else further)
        return way.to("change", conversation.pk)


def _told(verdict: Verdict | None) -> dict[str, str]:
    return {"rating": verdict.rating} if verdict is not None and verdict.is_counted else {}


def _fault(text: str) -> str:
    if not text:
        return _("Write something, or go back.")
    if len(text) > LONGEST:
        return _("A note has at most %(most)s characters. Shorten it.") % {"most": LONGEST}
    return ""
