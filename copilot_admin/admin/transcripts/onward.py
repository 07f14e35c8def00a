"""Leads a reviewer on to the next conversation of a queue, or says that there is none."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.admin.transcripts.way import Way
from copilot_admin.models import ReviewQueue
from copilot_admin.review.queues import claim


def next_in_queue(
    request: HttpRequest, queue: ReviewQueue, *, after: int = 0
) -> HttpResponseRedirect:
    """Hands the reader a conversation of the queue; leads to its page when there is none for him."""
    seat = claim(queue, request.user, now=timezone.now(), after=after)
    if seat is None:
        messages.info(request, _("There is nothing left for you in this queue."))
        return HttpResponseRedirect(
            reverse("admin:copilot_admin_reviewqueue_change", args=[queue.pk])
        )
    return HttpResponseRedirect(Way(filters="", queue=queue.pk).to("change", seat.conversation_id))
