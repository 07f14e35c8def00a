"""Replays of saved questions."""

from decimal import Decimal
from typing import Any
from urllib.parse import quote

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from copilot_admin.admin.copilots.questions import FOLDER, QuestionViews
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.replay_decisions import ReplayWish, cost_sentence
from copilot_admin.evaluation.replay_reading import Which, pair_differences, pairs_of, replay_views
from copilot_admin.evaluation.replay_targets import WantedTarget, replay_of
from copilot_admin.evaluation.replay_tasks import replay_in_background, wish
from copilot_admin.models import (
    Action,
    Copilot,
    Provider,
    Replay,
    ReplayAnswer,
    ReplayState,
    ReplayTarget,
    SavedQuestion,
)
from copilot_admin.models.pricing import COST

ALL = "all"
LABEL = "label:"
MOST_VERSIONS = 50  # that can be chosen, the newest
_CENTS = 6


class ReplayForm(forms.Form):
    """What a replay is begun with: which questions, who is asked, what it may cost."""

    questions = forms.ChoiceField(label=gettext_lazy("Questions"))
    target = forms.ChoiceField(
        label=gettext_lazy("Ask"),
        choices=ReplayTarget.choices,
        initial=ReplayTarget.DRAFT,
        widget=forms.RadioSelect,
    )
    version = forms.ChoiceField(label=gettext_lazy("Version"), required=False)
    provider = forms.ModelChoiceField(
        label=gettext_lazy("Provider of the other model"),
        queryset=Provider.objects.all(),
        required=False,
        empty_label=gettext_lazy("That of the draft"),
    )
    model = forms.CharField(
        label=gettext_lazy("Other model"), max_length=200, required=False, strip=True
    )
    most_cost = forms.DecimalField(
        label=gettext_lazy("Most that it may cost, in US dollars"),
        min_value=Decimal(0),
        max_digits=COST["max_digits"],
        decimal_places=_CENTS,
        required=False,
        help_text=gettext_lazy(
            "It stops before a question that would go beyond. Answers of unknown cost count nothing."
        ),
    )

    def __init__(self, copilot: Copilot, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # as the stubs of forms have it
        self.copilot = copilot
        rows = SavedQuestion.objects.filter(copilot=copilot).exclude(label="")
        labels = rows.order_by("label").values_list("label", flat=True).distinct()
        numbers = copilot.versions.order_by("-number").values_list("number", flat=True)
        fields: Any = self.fields
        fields["questions"].choices = [(ALL, _("All")), *((LABEL + one, one) for one in labels)]
        newest = [(str(one), str(one)) for one in numbers[:MOST_VERSIONS]]
        fields["version"].choices = [("", "–"), *newest]  # noqa: RUF001  # a dash

    def wanted(self) -> WantedTarget:
        """What the form asks a replay to do."""
        given = self.cleaned_data
        return WantedTarget(
            target=ReplayTarget(given["target"]),
            version_number=int(given["version"] or 0),
            provider=given["provider"],
            model=given["model"],
            most_cost=given["most_cost"],
        )

    @property
    def label(self) -> str:
        """The label of the questions that were chosen; empty: all."""
        which: str = self.cleaned_data["questions"]
        return which.removeprefix(LABEL) if which.startswith(LABEL) else ""

    def chosen(self) -> QuerySet[SavedQuestion]:
        """The questions that are asked."""
        rows = SavedQuestion.objects.filter(copilot=self.copilot)
        return rows.filter(label=self.label) if self.label else rows


REPLAYS_OF_A_PAGE = 20
PAIRS_OF_A_PAGE = 50
LIST = "admin:copilot_admin_copilot_replays"
ONE = "admin:copilot_admin_copilot_replay"

post_only = method_decorator(require_POST)


class ReplayViews(QuestionViews):
    """Views of replays; looking needs no more than seeing the copilot."""

    def replay_urls(self) -> list[URLPattern]:
        """The addresses of these pages."""
        wrap = self.admin_site.admin_view
        base, name = "<id:pk>/replays", "copilot_admin_copilot_replay"
        one = f"{base}/<id:number>"
        return [
            path(f"{base}/", wrap(self.replays_view), name=f"{name}s"),
            path(f"{one}/", wrap(self.replay_view), name=name),
            path(f"{one}/rows/", wrap(self.replay_rows_view), name=f"{name}_rows"),
            path(f"{one}/wish/", wrap(self.replay_wish_view), name=f"{name}_wish"),
            path(f"{one}/delete/", wrap(self.replay_delete_view), name=f"{name}_delete"),
            path(f"{one}/pairs/<id:answer>/", wrap(self.pair_view), name=f"{name}_pair"),
        ]

    @method_decorator(require_http_methods(["GET", "HEAD", "POST"]))
    def replays_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """The replays that there are, the newest first, and the form of another."""
        is_post = request.method == "POST"
        copilot = self.looked_at(request, pk, changing=is_post)
        form = ReplayForm(copilot, request.POST) if is_post else ReplayForm(copilot)
        if is_post and form.is_valid():
            try:
                replay = replay_of(copilot, form.wanted())
                replay.asked_by_id, replay.label = request.user.pk, form.label
                with transaction.atomic():
                    replay_in_background(replay, form.chosen())
                    facts = {"copilot": copilot.slug, "target": replay.target}
                    self.audit(request, Action.STARTED, replay, after=facts)
            except ConfigurationError as error:
                form.add_error(None, error.public)
            else:
                return HttpResponseRedirect(reverse(ONE, args=[pk, replay.pk]))
        rows = Replay.objects.filter(copilot=copilot)
        page = Paginator(rows, REPLAYS_OF_A_PAGE).get_page(request.GET.get("page"))
        first = max(page.start_index() - 1, 0)
        shown = list(rows.values_list("pk", flat=True)[first : page.end_index()])
        context = {
            "form": form,
            "page": page,
            "views": replay_views(Replay.objects.filter(pk__in=shown)),
            "n_questions": copilot.saved_questions.count(),
            "may_change": self.has_change_permission(request, copilot),
            "title": _("Replays"),
        }
        return self._question_page(request, "replays", copilot, context)

    def replay_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """One replay: how far it has come, what changed, and the pairs."""
        copilot = self.looked_at(request, pk)
        context = {"title": _("Replay"), **self._pairs(request, copilot, number)}
        return self._question_page(request, "replay", copilot, context)

    def replay_rows_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """The same without the page around it, for one that watches."""
        copilot = self.looked_at(request, pk)
        context = {"copilot": copilot, **self._pairs(request, copilot, number)}
        return _fresh(render(request, f"{FOLDER}/replay_rows.html", context))

    def pair_view(
        self, request: HttpRequest, pk: int, number: int, answer: int
    ) -> HttpResponseBase:
        """One answer beside the one before, with marked words."""
        copilot = self.looked_at(request, pk)
        rows = ReplayAnswer.objects.filter(replay__copilot=copilot, replay=number)
        found = get_object_or_404(rows, pk=answer)
        context = {
            "answer": found,
            "parts": pair_differences(found),
            "number": number,
            "title": _("What the new answer says otherwise"),
        }
        if "part" in request.GET:
            return _fresh(render(request, f"{FOLDER}/replay_pair_parts.html", context))
        return self._question_page(request, "replay_pair", copilot, context)

    @post_only
    def replay_wish_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """Pauses a replay, lets it go on, under another bound if one is given, or stops it."""
        copilot = self.looked_at(request, pk, changing=True)
        replay = get_object_or_404(Replay, copilot=copilot, pk=number)
        try:
            wanted = ReplayWish(request.POST.get("wish", ""))
        except ValueError as error:
            raise Http404 from error
        words = _said(wanted) if self._raised(request, replay, wanted) else ""
        if words and not wish(number, wanted):
            words = _("It has ended meanwhile.")
        elif words:
            self.audit(request, Action.CHANGED, replay, after={"wish": wanted.value})
        text = words or _("Write a higher bound, in US dollars, such as 2.50.")
        if "part" in request.GET:
            response = self.replay_rows_view(request, pk, number)
            response["X-Said"] = quote(text)
            return response
        messages.info(request, text)
        return HttpResponseRedirect(reverse(ONE, args=[pk, number]))

    @post_only
    def replay_delete_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """Deletes a replay; the questions stay."""
        copilot = self.looked_at(request, pk, changing=True)
        replay = get_object_or_404(Replay, copilot=copilot, pk=number)
        wish(number, ReplayWish.STOP)
        with transaction.atomic():
            replay.delete()
            on, facts = Subject("replay", str(number)), {"copilot": copilot.slug}
            record(Action.DELETED, by=Actor.of(request), on=on, after=facts)
        messages.success(request, _("The replay is deleted."))
        return HttpResponseRedirect(reverse(LIST, args=[pk]))

    def _raised(self, request: HttpRequest, replay: Replay, wanted: ReplayWish) -> bool:
        if wanted is not ReplayWish.RESUME or replay.state != ReplayState.COST_BOUND:
            return True
        form = ReplayForm(replay.copilot, request.POST)
        form.is_valid()
        bound = form.cleaned_data.get("most_cost")
        if "most_cost" in form.errors or (
            bound is not None and replay.most_cost is not None and bound <= replay.most_cost
        ):
            return False
        replay.most_cost = bound
        replay.save(update_fields=["most_cost"])
        return True

    def _pairs(self, request: HttpRequest, copilot: Copilot, number: int) -> dict[str, Any]:
        found = replay_views(Replay.objects.filter(copilot=copilot, pk=number))
        if not found:
            raise Http404
        which = request.GET.get("which", Which.ALL)
        pairs = Paginator(pairs_of(number, which), PAIRS_OF_A_PAGE)
        return {
            "view": found[0],
            "spent": cost_sentence(found[0].tally.spent),
            "page": pairs.get_page(request.GET.get("page")),
            "which": which,
            "filters": [
                (Which.ALL, _("All"), found[0].tally.total),
                (Which.CHANGED, _("Changed"), found[0].tally.changed),
                (Which.SLOWER, _("Slower than twice"), found[0].tally.slower),
                (Which.UNEXPECTED, _("Not as expected"), found[0].tally.not_as_expected),
                (Which.FAILED, _("Failed"), found[0].tally.failed),
            ],
            "may_change": self.has_change_permission(request, copilot),
        }


def _said(wanted: ReplayWish) -> str:
    match wanted:
        case ReplayWish.PAUSE:
            return _("It pauses. Questions under way are still answered.")
        case ReplayWish.RESUME:
            return _("It goes on.")
        case ReplayWish.STOP:
            return _("It has stopped. The answers that there are stay.")


def _fresh(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
