"""Requests of reviewers: save a verdict, rate an answer, add a note, skip an item of a queue."""

import json

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.common.base import audit
from copilot_admin.admin.transcripts.pages import (
    FOLDER,
    ReturnContext,
    is_fragment,
    load_for_review,
    read_context,
    render_part,
)
from copilot_admin.admin.transcripts.review import VerdictForm, build_review, redirect_to_next
from copilot_admin.admin.transcripts.views import conversation_page, go_on, render_turn
from copilot_admin.models import Action, Conversation, ReviewQueue, Turn, TurnNote, Verdict
from copilot_admin.review.queues import finish_assignments, skip_assignment
from copilot_admin.transcripts.verdicts import (
    active_criteria,
    save_verdict,
    verdict_of,
)

MAX_NOTE_LENGTH = 10_000


def verdict_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Save a verdict on the conversation, and go on to the next one if asked."""
    nav = read_context(request.POST)
    conversation = load_for_review(request, pk)
    form = VerdictForm(request.POST, criteria=active_criteria())
    if not form.is_valid():
        if is_fragment(request):
            return _render_review(request, conversation, nav, form)
        return conversation_page(request, pk, form=form)
    with transaction.atomic():
        _save(request, conversation, form)
        finish_assignments(conversation.pk, request.user, now=timezone.now())
    if is_fragment(request):
        response = _render_review(request, conversation, nav, None)
        saved = {"id": conversation.pk}
        response["HX-Trigger-After-Settle"] = json.dumps({"conversation-saved": saved})
        return response
    messages.success(request, _("Review saved."))
    if "_next" in request.POST:
        return go_on(request, conversation, nav)
    return HttpResponseRedirect(nav.url_of("change", pk))


def skip_view(request: HttpRequest, pk: int) -> HttpResponse:
    nav = read_context(request.POST)
    conversation = load_for_review(request, pk)
    queue = get_object_or_404(ReviewQueue, pk=nav.queue)
    after = skip_assignment(queue, conversation.pk, request.user)
    return redirect_to_next(request, queue.pk, after=after)


def turn_verdict_view(request: HttpRequest, pk: int, turn: int) -> HttpResponse:
    """Rate one answer: a form below it, or the answer with the form as a page."""
    conversation = load_for_review(request, pk)
    asked = _load_turn(conversation, turn)
    before = verdict_of(conversation, request.user, turn=asked.pk)
    sent = request.POST if request.method == "POST" else None
    form = VerdictForm(sent, criteria=active_criteria(), verdict=before)
    nav = read_context(request.POST or request.GET)
    if form.is_valid():
        with transaction.atomic():
            _save(request, conversation, form, turn=asked.pk)
        return _show_turn(request, conversation, asked, nav)
    if is_fragment(request) and request.method == "POST":
        return render_turn(request, conversation, asked.pk, rating_form=form)
    context = {"form": form, "turn_id": asked.pk, "nav": nav}
    return render_part(request, "rate.html", "rate_page.html", conversation, **context)


def add_note_view(request: HttpRequest, pk: int, turn: int) -> HttpResponse:
    conversation = load_for_review(request, pk)
    asked = _load_turn(conversation, turn)
    nav = read_context(request.POST)
    if text := _read_note(request):
        with transaction.atomic():
            note = TurnNote.objects.create(turn=asked, author_id=request.user.pk, text=text)
            _audit_note(request, Action.ADDED, conversation, note)
    return _show_turn(request, conversation, asked, nav)


def note_view(request: HttpRequest, pk: int, note: int) -> HttpResponse:
    conversation = load_for_review(request, pk)
    rows = TurnNote.objects.filter(turn__conversation=conversation, author_id=request.user.pk)
    own = get_object_or_404(rows.select_related("turn"), pk=note)
    nav = read_context(request.POST)
    with transaction.atomic():
        if "_delete" in request.POST:
            _audit_note(request, Action.DELETED, conversation, own)
            own.delete()
        elif text := _read_note(request):
            own.text = text
            own.save(update_fields=["text", "updated_at"])
            _audit_note(request, Action.CHANGED, conversation, own)
    return _show_turn(request, conversation, own.turn, nav)


def _save(
    request: HttpRequest,
    conversation: Conversation,
    form: VerdictForm,
    *,
    turn: int | None = None,
) -> None:
    """Save a verdict; the audit trail has the rating, and comments stay in the conversation."""
    old = verdict_of(conversation, request.user, turn=turn)
    verdict = save_verdict(conversation, request.user, turn=turn, **form.verdict())
    about = {"conversation": conversation.pk} | ({} if turn is None else {"turn": turn})
    action = Action.CHANGED if old else Action.ADDED
    audit(request, action, verdict, before=_facts(old), after={**about, **_facts(verdict)})


def _facts(verdict: Verdict | None) -> dict[str, str]:
    return {"rating": verdict.rating} if verdict is not None and verdict.is_counted else {}


def _audit_note(
    request: HttpRequest, action: Action, conversation: Conversation, note: TurnNote
) -> None:
    audit(request, action, note, after={"conversation": conversation.pk, "turn": note.turn_id})


def _read_note(request: HttpRequest) -> str:
    """Return the text of a note; "" after a message if it is missing or too long."""
    text = request.POST.get("text", "").strip()
    if not text:
        messages.error(request, _("Enter a note."))
    elif len(text) > MAX_NOTE_LENGTH:
        most = {"max": MAX_NOTE_LENGTH}
        messages.error(request, _("A note has at most %(max)s characters.") % most)
        return ""
    return text


def _load_turn(conversation: Conversation, turn: int) -> Turn:
    rows = Turn.objects.filter(conversation=conversation).defer("search_text")
    return get_object_or_404(rows, pk=turn)


def _show_turn(
    request: HttpRequest, conversation: Conversation, turn: Turn, nav: ReturnContext
) -> HttpResponse:
    if is_fragment(request):
        return render_turn(request, conversation, turn.pk)
    url = nav.url_of("change", conversation.pk)
    sign = "&" if "?" in url else "?"
    return HttpResponseRedirect(f"{url}{sign}turn={turn.pk}#turn-{turn.pk}")


def _render_review(
    request: HttpRequest, conversation: Conversation, nav: ReturnContext, form: VerdictForm | None
) -> HttpResponse:
    context = {
        "conversation": conversation,
        "review": build_review(request, conversation, nav, form=form),
        "nav": nav,
        "is_saved": form is None,
        "in_panel": "_panel" in request.POST,
    }
    return render(request, f"{FOLDER}/review.html", context)
