"""Turns saved as tests of their copilot: one from its page, many from the list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from copilot_admin.accounts.members import is_reachable, reachable
from copilot_admin.admin.transcripts.list_page import find_unknown, unknown_filter_page
from copilot_admin.admin.transcripts.nav_context import LIST, read_context
from copilot_admin.admin.transcripts.pages import load_conversation, parse_id, render_page
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
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
from copilot_admin.transcripts.access import BUILD, may_read_conversations, visible_conversations
from copilot_admin.transcripts.search.list_query import ConversationList
from copilot_admin.transcripts.search.saved_views import read_query

ONLY_BAD = "down"  # value of `which`
MAX_CONVERSATIONS = 1_000  # of a selection
MAX_REPORTED = 100  # turns that were not saved and are named


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTurns:
    """Selected turns; `turns` has ids of conversations and turns."""

    conversations: Sequence[int]
    turns: Sequence[tuple[int, int]]
    only_bad: bool
    has_more: bool


def may_learn(request: HttpRequest) -> bool:
    """Return whether a person may save turns as tests."""
    return may_read_conversations(request.user) and request.user.has_perm(BUILD)


@require_POST
def save_turn_view(request: HttpRequest, pk: str, turn: str) -> HttpResponse:
    """Save one turn as a test, and go to its form."""
    if not may_learn(request):
        raise PermissionDenied
    conversation = load_conversation(request, pk, view="")
    number = parse_id(turn)
    if number is None:
        raise Http404
    if not is_reachable(request.user, conversation.copilot_id):
        raise PermissionDenied
    with transaction.atomic():
        (one,) = save_turns([(conversation.pk, number)])
        _audit_saved(request, [one])
    if one.status is SaveStatus.GONE:
        raise Http404
    if one.case is None:
        messages.error(request, _("The test was not saved. %s") % one.sentence)
        nav = read_context(request.POST)
        return HttpResponseRedirect(f"{nav.url_of('change', conversation.pk)}#turn-{number}")
    text = one.sentence
    if one.status is SaveStatus.SAVED:
        text = _("Test saved. Enter the expected answer.")
    messages.success(request, text)
    url = reverse("admin:copilot_admin_copilot_test", args=[one.copilot, one.case])
    return HttpResponseRedirect(url)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def save_turns_view(request: HttpRequest) -> HttpResponse:
    """Save the turns of the selected conversations as tests, after showing how many."""
    if not may_learn(request):
        raise PermissionDenied
    filters = _get_form_data(request).get(LIST, "")
    if unknown := find_unknown(QueryDict(filters).dict()):
        return unknown_filter_page(request, unknown)
    selection = _select(request, filters)
    context: dict[str, Any] = {
        "selection": selection,
        "filters": filters,
        "max_turns": MAX_TURNS,
        "max_label": MAX_LABEL_LENGTH,
    }
    if request.method != "POST" or "_save" not in request.POST:
        return render_page(request, "learn.html", _("Save as tests"), **context)
    typed = remove_bidi_controls(request.POST.get("label", ""))
    label = " ".join(typed.split())[:MAX_LABEL_LENGTH]
    with transaction.atomic():
        learned = list(save_turns(selection.turns, label=label))
        _audit_saved(request, learned)
    return render_page(request, "learned.html", _("Save as tests"), **context, **_results(learned))


def _audit_saved(request: HttpRequest, learned: Sequence[SaveResult]) -> None:
    saved = [one.case for one in learned if one.status is SaveStatus.SAVED]
    if saved:
        by, on = Actor.of(request), Subject("testcase")
        record(Action.ADDED, by=by, on=on, after={"ids": saved})


def _select(request: HttpRequest, filters: str) -> ChosenTurns:
    listed = ConversationList(visible_conversations(request.user), read_query(filters))
    chosen = listed.select_ids()[:MAX_CONVERSATIONS]
    if settings.MEMBERS:
        mine = Conversation.objects.filter(copilot__in=reachable(request.user).values("pk"))
        found = set(mine.filter(pk__in=chosen).values_list("pk", flat=True))
        chosen = [pk for pk in chosen if pk in found]
    only_bad = _get_form_data(request).get("which") == ONLY_BAD
    turns = select_turns(chosen, only_bad=only_bad)
    return ChosenTurns(
        conversations=chosen,
        turns=turns[:MAX_TURNS],
        only_bad=only_bad,
        has_more=len(turns) > MAX_TURNS,
    )


def _get_form_data(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _results(learned: Sequence[SaveResult]) -> dict[str, Any]:
    saved = [one for one in learned if one.status is SaveStatus.SAVED]
    others = [one for one in learned if one.status is not SaveStatus.SAVED]
    names = dict(
        Copilot.objects.filter(pk__in={one.copilot for one in saved}).values_list("pk", "name")
    )
    counts = {pk: sum(one.copilot == pk for one in saved) for pk in names}
    return {
        "n_saved": len(saved),
        "copilots": [(pk, name, counts[pk]) for pk, name in sorted(names.items())],
        "others": others[:MAX_REPORTED],
        "n_others": len(others),
    }
