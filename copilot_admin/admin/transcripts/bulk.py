"""Actions on selected conversations: label, mark reviewed, queue, tests, export, delete."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.common.base import audit, number_in
from copilot_admin.admin.transcripts.pages import LIST, read_context, render_page
from copilot_admin.audit.recording import Actor
from copilot_admin.jobs.removal import begin_erasure, remove
from copilot_admin.models import Action, Conversation, Criterion, ReviewQueue, ReviewState
from copilot_admin.privacy.scopes import PrivacyScope, record_removal
from copilot_admin.review.queues import add_to_queue, finish_assignments
from copilot_admin.transcripts.access import REVIEW, visible_conversations
from copilot_admin.transcripts.verdicts import add_label, lock_conversation, set_review_state

CHOSEN = "chosen"
MAX_CHOSEN = 200
ERASE = "copilot_admin.erase_data"
ADD_TO_QUEUE = "copilot_admin.change_reviewqueue"
PAGES = {  # that take the selection as a filter
    "export": "admin:copilot_admin_transcriptexport_add",
    "tests": "admin:copilot_admin_conversation_learn",
    "new-queue": "admin:copilot_admin_reviewqueue_add",
}


def bulk_view(request: HttpRequest) -> HttpResponse:
    """Do what a button of the list does to the selected conversations."""
    ids = [number_in(one) for one in request.POST.getlist(CHOSEN)[:MAX_CHOSEN]]
    found = visible_conversations(request.user).filter(pk__in=ids)
    rows = list(found.select_related("copilot").order_by("-last_at", "-id"))
    action, _colon, argument = request.POST.get("action", "").partition(":")
    if not rows:
        messages.warning(request, _("Select at least one conversation."))
    elif action in PAGES:
        filters = "playground=with&ids=" + ",".join(str(row.pk) for row in rows)
        return HttpResponseRedirect(reverse(PAGES[action]) + "?" + urlencode({LIST: filters}))
    elif action == "delete":
        return _delete(request, rows)
    elif request.user.has_perm(REVIEW):
        messages.success(request, _review(request, rows, action, number_in(argument)))
    else:
        raise PermissionDenied
    return HttpResponseRedirect(read_context(request.POST).list_url)


def _review(request: HttpRequest, rows: Sequence[Conversation], action: str, argument: int) -> str:
    number = len(rows)
    if action == "label":
        labels = Criterion.objects.filter(kind="label", is_retired=False)
        label = get_object_or_404(labels, pk=argument)
        with transaction.atomic():
            for row in rows:
                add_label(row, request.user, label)
                audit(request, Action.CHANGED, row, after={"label": label.name})
        done = ngettext("%(n)s conversation labeled.", "%(n)s conversations labeled.", number)
    elif action == "queue":
        if not request.user.has_perm(ADD_TO_QUEUE):
            raise PermissionDenied
        queue = get_object_or_404(ReviewQueue, pk=argument, is_closed=False)
        with transaction.atomic():
            number = add_to_queue(queue, [row.pk for row in rows])
            audit(request, Action.CHANGED, queue, after={"added": number})
        done = ngettext(
            "%(n)s conversation added to the queue.",
            "%(n)s conversations added to the queue.",
            number,
        )
    elif action == "reviewed":
        for row in rows:
            _set_state(request, row, ReviewState.DONE)
        done = ngettext(
            "%(n)s conversation marked reviewed.", "%(n)s conversations marked reviewed.", number
        )
    elif action == "unreviewed":
        for row in rows:
            _set_state(request, row, ReviewState.NEW)
        done = ngettext(
            "%(n)s conversation marked unreviewed.",
            "%(n)s conversations marked unreviewed.",
            number,
        )
    else:
        raise Http404
    return done % {"n": number}


def _set_state(request: HttpRequest, row: Conversation, state: ReviewState) -> None:
    if row.review_state == state:
        return
    with transaction.atomic():
        lock_conversation(row.pk)
        if state == ReviewState.DONE:
            finish_assignments(row.pk, request.user, now=timezone.now())
        set_review_state(row.pk, state)
        before, after = {"review_state": row.review_state}, {"review_state": state.value}
        audit(request, Action.CHANGED, row, before=before, after=after)


def _delete(request: HttpRequest, rows: Sequence[Conversation]) -> HttpResponse:
    if not request.user.has_perm(ERASE):
        raise PermissionDenied
    nav = read_context(request.POST)
    if "sure" not in request.POST:
        return render_page(request, "delete.html", _("Delete conversations"), rows=rows, nav=nav)
    for row in rows:
        with transaction.atomic():
            removal = begin_erasure(
                PrivacyScope(conversation=row.pk),
                reason=_("Deleted from the list"),
                by_id=request.user.pk,
                with_questions=False,
            )
            transaction.on_commit(partial(remove.enqueue, removal.pk))
            record_removal(removal, by=Actor.of(request))
    done = ngettext(
        "%(n)s conversation is being deleted. It disappears within a minute.",
        "%(n)s conversations are being deleted. They disappear within a minute.",
        len(rows),
    )
    messages.success(request, done % {"n": len(rows)})
    return HttpResponseRedirect(nav.list_url)
