"""Turns saved as tests of their copilot: one from its page, many from the list."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import is_reachable, reachable
from copilot_admin.admin.transcripts.list_page import reject_unknown
from copilot_admin.admin.transcripts.pages import LIST, load_conversation, read_context, render_page
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.copilots.config_types import remove_bidi_controls
from copilot_admin.evaluation.from_turns import (
    MAX_TURNS,
    SaveResult,
    SaveStatus,
    save_turns,
    select_turns,
)
from copilot_admin.models import Action, Conversation, Copilot
from copilot_admin.models.evaluation import MAX_LABEL_LENGTH
from copilot_admin.transcripts.access import BUILD, visible_conversations
from copilot_admin.transcripts.search.list_query import ConversationList, read_query

ONLY_BAD = "down"  # value of `which`
MAX_CONVERSATIONS = 1_000  # of a selection
MAX_REPORTED = 100  # turns that were not saved and are named


@permission_required(BUILD, raise_exception=True)
def save_turn_view(request: HttpRequest, pk: int, turn: int) -> HttpResponse:
    conversation = load_conversation(request, pk, view="")
    if not is_reachable(request.user, conversation.copilot_id):
        raise PermissionDenied
    (one,) = _save(request, [(conversation.pk, turn)])
    if one.status is SaveStatus.GONE:
        raise Http404
    if one.case is None:
        messages.error(request, _("The test was not saved. %s") % one.sentence)
        nav = read_context(request.POST)
        return HttpResponseRedirect(f"{nav.url_of('change', conversation.pk)}#turn-{turn}")
    text = one.sentence
    if one.status is SaveStatus.SAVED:
        text = _("Test saved. Enter the expected answer.")
    messages.success(request, text)
    url = reverse("admin:copilot_admin_copilot_test", args=[one.copilot, one.case])
    return HttpResponseRedirect(url)


@permission_required(BUILD, raise_exception=True)
def save_turns_view(request: HttpRequest) -> HttpResponse:
    sent = request.POST if request.method == "POST" else request.GET
    filters, only_bad = sent.get(LIST, ""), sent.get("which") == ONLY_BAD
    if rejected := reject_unknown(request, read_query(filters)):
        return rejected
    conversations = _select(request, filters)
    turns = select_turns(conversations, only_bad=only_bad)
    context: dict[str, Any] = {
        "conversations": conversations,
        "turns": turns[:MAX_TURNS],
        "has_more": len(turns) > MAX_TURNS,
        "only_bad": only_bad,
        "filters": filters,
        "max_turns": MAX_TURNS,
        "max_label": MAX_LABEL_LENGTH,
    }
    if "_save" not in request.POST:
        return render_page(request, "learn.html", _("Save as tests"), **context)
    typed = remove_bidi_controls(request.POST.get("label", ""))
    label = " ".join(typed.split())[:MAX_LABEL_LENGTH]
    context |= _results(_save(request, turns[:MAX_TURNS], label=label))
    return render_page(request, "learned.html", _("Save as tests"), **context)


def _save(
    request: HttpRequest, turns: Sequence[tuple[int, int]], *, label: str = ""
) -> list[SaveResult]:
    with transaction.atomic():
        results = list(save_turns(turns, label=label))
        saved = [one.case for one in results if one.status is SaveStatus.SAVED]
        if saved:
            by, on = Actor.of(request), Subject("testcase")
            record(Action.ADDED, by=by, on=on, after={"ids": saved})
    return results


def _select(request: HttpRequest, filters: str) -> list[int]:
    listed = ConversationList(visible_conversations(request.user), read_query(filters))
    chosen = listed.select_ids()[:MAX_CONVERSATIONS]
    if not settings.MEMBERS:
        return chosen
    mine = Conversation.objects.filter(copilot__in=reachable(request.user).values("pk"))
    found = set(mine.filter(pk__in=chosen).values_list("pk", flat=True))
    return [pk for pk in chosen if pk in found]


def _results(results: Sequence[SaveResult]) -> dict[str, Any]:
    saved = [one.copilot for one in results if one.status is SaveStatus.SAVED]
    others = [one for one in results if one.status is not SaveStatus.SAVED]
    copilots = Copilot.objects.filter(pk__in=saved).order_by("pk").values_list("pk", "name")
    return {
        "n_saved": len(saved),
        "copilots": [(pk, name, saved.count(pk)) for pk, name in copilots],
        "others": others[:MAX_REPORTED],
        "n_others": len(others),
    }
