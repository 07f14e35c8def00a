"""Turns become saved questions: one from its page, many from the list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from copilot_admin.accounts.members import is_reachable, reachable
from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.transcripts.beside import newest_ids, rows_of_list
from copilot_admin.admin.transcripts.filter_form import refused_page
from copilot_admin.admin.transcripts.views import FOLDER, VIEW, number_in
from copilot_admin.admin.transcripts.way import LIST, way_in
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

CHANGE = "copilot_admin.change_copilot"
CHOSEN = "chosen"  # boxes of the list
ONLY_BAD = "down"  # of `which`
MOST_CHOSEN = 1_000  # conversations of a filter, the newest; more than are saved at once
MOST_TOLD = 100  # turns that were not saved and are named


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTurns:
    """What somebody wants saved.

    Attributes:
        conversations: Ids.
        turns: Ids of conversations and turns, as many as are saved at once.
        has_more: There are more than that.
    """

    conversations: Sequence[int]
    turns: Sequence[tuple[int, int]]
    only_bad: bool
    has_more: bool


def may_learn(request: HttpRequest) -> bool:
    return request.user.has_perms([VIEW, CHANGE])


class LearningViews(BaseAdmin[Conversation]):
    """From a transcript to the questions of its copilot."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "copilot_admin_conversation_{}".format
        own = [
            path("learn/", wrap(self.learn_view), name=name("learn")),
            path("<str:pk>/turns/<str:turn>/learn/", wrap(self.turn_learn_view), name=name("keep")),
        ]
        return own + super().get_urls()

    @method_decorator(require_POST)
    def turn_learn_view(self, request: HttpRequest, pk: str, turn: str) -> HttpResponse:
        """Saves one turn, and leads to what its answer shall be."""
        if not may_learn(request):
            raise PermissionDenied
        conversation = get_object_or_404(Conversation, pk=number_in(pk))
        number = number_in(turn)
        if number is None:
            raise Http404
        if not is_reachable(request.user, conversation.copilot_id):
            raise PermissionDenied
        with transaction.atomic():
            (one,) = save_turns([(conversation.pk, number)])
            self._audit_learning(request, [one])
        if one.status is SaveStatus.GONE:
            raise Http404
        if one.case is None:
            messages.error(request, _("The test was not saved. %s") % one.sentence)
            address = reverse("admin:copilot_admin_conversation_change", args=[conversation.pk])
            return HttpResponseRedirect(f"{address}{way_in(request.POST).query}#turn-{number}")
        words = one.sentence
        if one.status is SaveStatus.SAVED:
            words = _("Test saved. Set the expected result.")
        messages.success(request, words)
        address = reverse("admin:copilot_admin_copilot_test", args=[one.copilot, one.case])
        return HttpResponseRedirect(address)

    @method_decorator([require_http_methods(["GET", "HEAD", "POST"]), never_cache])
    def learn_view(self, request: HttpRequest) -> HttpResponse:
        """Saves what was chosen in the list, or all that its filter finds; says first how many."""
        if not may_learn(request):
            raise PermissionDenied
        if (refused := refused_page(request, _sent(request).get(LIST, ""))) is not None:
            return refused
        selection = self._selection(request)
        context: dict[str, Any] = {
            **self.page_context(request, _("Save questions")),
            "selection": selection,
            "filters": _sent(request).get(LIST, ""),
            "chosen": _chosen(request),
            "most": MAX_TURNS,
            "longest_label": MAX_LABEL_LENGTH,
        }
        if request.method != "POST" or "_save" not in request.POST:
            return TemplateResponse(request, f"{FOLDER}/learn.html", context)
        typed = remove_bidi_controls(request.POST.get("label", ""))
        label = " ".join(typed.split())[:MAX_LABEL_LENGTH]
        with transaction.atomic():
            learned = list(save_turns(selection.turns, label=label))
            self._audit_learning(request, learned)
        return TemplateResponse(request, f"{FOLDER}/learned.html", context | _told(learned))

    def _audit_learning(self, request: HttpRequest, learned: Sequence[SaveResult]) -> None:
        by = Actor.of(request)
        saved = [one.case for one in learned if one.status is SaveStatus.SAVED]
        if saved:
            record(Action.ADDED, by=by, on=Subject("testcase"), after={"ids": saved})

    def _selection(self, request: HttpRequest) -> ChosenTurns:
        chosen = _chosen(request)
        if not chosen:
            rows = rows_of_list(self, request, _sent(request).get(LIST, ""))
            chosen = [] if rows is None else newest_ids(rows)[:MOST_CHOSEN]
        mine = Conversation.objects.filter(copilot__in=reachable(request.user).values("pk"))
        chosen = list(in_order(chosen, mine)) if settings.MEMBERS else chosen
        only_bad = _sent(request).get("which") == ONLY_BAD
        turns = select_turns(chosen, only_bad=only_bad)
        return ChosenTurns(
            conversations=chosen,
            turns=turns[:MAX_TURNS],
            only_bad=only_bad,
            has_more=len(turns) > MAX_TURNS,
        )


def in_order(chosen: Sequence[int], among: QuerySet[Conversation]) -> Iterator[int]:
    """Those ids that are among some rows, in the order in which they were chosen."""
    found = set(among.filter(pk__in=chosen).values_list("pk", flat=True))
    return (pk for pk in chosen if pk in found)


def _sent(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else request.GET


def _chosen(request: HttpRequest) -> list[int]:
    numbers = map(number_in, _sent(request).getlist(CHOSEN)[:MOST_CHOSEN])
    return [number for number in numbers if number is not None]


def _told(learned: Sequence[SaveResult]) -> dict[str, Any]:
    saved = [one for one in learned if one.status is SaveStatus.SAVED]
    others = [one for one in learned if one.status is not SaveStatus.SAVED]
    names = dict(
        Copilot.objects.filter(pk__in={one.copilot for one in saved}).values_list("pk", "name")
    )
    counts = {pk: sum(one.copilot == pk for one in saved) for pk in names}
    return {
        "n_saved": len(saved),
        "copilots": [(pk, name, counts[pk]) for pk, name in sorted(names.items())],
        "others": others[:MOST_TOLD],
        "n_others": len(others),
    }
