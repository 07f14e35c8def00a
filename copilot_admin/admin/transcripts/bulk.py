"""Actions on selected conversations: label, mark reviewed, queue, tests, export, delete."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from copilot_admin.admin.transcripts.nav_context import LIST, read_context
from copilot_admin.admin.transcripts.pages import audit, parse_id, render_page
from copilot_admin.audit.parties import Actor
from copilot_admin.jobs.removal import begin_erasure, remove
from copilot_admin.models import Action, Conversation, Criterion, ReviewQueue, ReviewState
from copilot_admin.privacy.audit import record_removal
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.review.queues import add_to_queue, finish_assignments
from copilot_admin.transcripts.access import REVIEW, may_read_conversations, visible_conversations
from copilot_admin.transcripts.verdicts import add_label, lock_conversation, set_review_state

CHOSEN = "chosen"
MAX_CHOSEN = 200
ERASE = "copilot_admin.erase_data"
ADD_TO_QUEUE = "copilot_admin.change_reviewqueue"


@require_POST
def bulk_view(request: HttpRequest) -> HttpResponse:
    """Do what a button of the list does to the selected conversations."""
    if not may_read_conversations(request.user):
        raise PermissionDenied
    rows = _read_selection(request)
    action, _colon, argument = request.POST.get("action", "").partition(":")
    if not rows:
        messages.warning(request, _("Select at least one conversation."))
    elif action in _LINKS:
        ids = ",".join(str(row.pk) for row in rows)
        return HttpResponseRedirect(
            reverse(_LINKS[action]) + "?" + urlencode({LIST: f"playground=with&ids={ids}"})
        )
    elif action == "delete":
        return _delete(request, rows)
    else:
        _review(request, rows, action, argument)
    back = read_context(request.POST)
    return HttpResponseRedirect(back.list_url)


_LINKS = {
    "export": "admin:copilot_admin_transcriptexport_add",
    "tests": "admin:copilot_admin_conversation_learn",
    "new-queue": "admin:copilot_admin_reviewqueue_add",
}


def _read_selection(request: HttpRequest) -> list[Conversation]:
    ids = [parse_id(one) for one in request.POST.getlist(CHOSEN)[:MAX_CHOSEN]]
    rows = visible_conversations(request.user).filter(pk__in=[one for one in ids if one])
    return list(rows.select_related("copilot").order_by("-last_at", "-id"))


def _review(request: HttpRequest, rows: Sequence[Conversation], action: str, argument: str) -> None:
    if not request.user.has_perm(REVIEW):
        raise PermissionDenied
    number = len(rows)
    if action == "label":
        labels = Criterion.objects.filter(kind="label", is_retired=False)
        label = get_object_or_404(labels, pk=parse_id(argument))
        with transaction.atomic():
            for row in rows:
                add_label(row, request.user, label)
                audit(request, Action.CHANGED, row, after={"label": label.name})
        done = ngettext("%(n)s conversation labeled.", "%(n)s conversations labeled.", number)
    elif action == "queue":
        if not request.user.has_perm(ADD_TO_QUEUE):
            raise PermissionDenied
        open_queues = ReviewQueue.objects.filter(is_closed=False)
        queue = get_object_or_404(open_queues, pk=parse_id(argument))
        with transaction.atomic():
            number = add_to_queue(queue, [row.pk for row in rows])
            audit(request, Action.CHANGED, queue, after={"added": number})
        done = ngettext(
            "%(n)s conversation added to the queue.",
            "%(n)s conversations added to the queue.",
            number,
        )
    elif action in ("reviewed", "unreviewed"):
        for row in rows:
            _set_state(request, row, is_reviewed=action == "reviewed")
        done = (
            ngettext(
                "%(n)s conversation marked reviewed.",
                "%(n)s conversations marked reviewed.",
                number,
            )
            if action == "reviewed"
            else ngettext(
                "%(n)s conversation marked unreviewed.",
                "%(n)s conversations marked unreviewed.",
                number,
            )
        )
    else:
        messages.warning(request, _("Unknown action."))
        return
    messages.success(request, done % {"n": number})


def _set_state(request: HttpRequest, row: Conversation, *, is_reviewed: bool) -> None:
    state = ReviewState.DONE if is_reviewed else ReviewState.NEW
    if row.review_state == state:
        return
    with transaction.atomic():
        lock_conversation(row.pk)
        if is_reviewed:
            finish_assignments(row.pk, request.user, now=timezone.now())
        set_review_state(row.pk, state)
        before, after = {"review_state": row.review_state}, {"review_state": state.value}
        audit(request, Action.CHANGED, row, before=before, after=after)


def _delete(request: HttpRequest, rows: Sequence[Conversation]) -> HttpResponse:
    if not request.user.has_perm(ERASE):
        raise PermissionDenied
    back = read_context(request.POST)
    if "sure" not in request.POST:
        return render_page(
            request, "delete.html", _("Delete conversations"), rows=rows, nav_context=back
        )
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
    messages.success(
        request,
        ngettext(
            "%(n)s conversation is being deleted. It disappears within a minute.",
            "%(n)s conversations are being deleted. They disappear within a minute.",
            len(rows),
        )
        % {"n": len(rows)},
    )
    return HttpResponseRedirect(back.list_url)
