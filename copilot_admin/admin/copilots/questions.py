"""The pages of a copilot's saved questions: the list with both answers, asking, editing."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.copilots.questions_form import QuestionForm
from copilot_admin.admin.copilots.views import CopilotViews, number_in
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.copilots.questions.order import move_question
from copilot_admin.evaluation.question_fares import fares_of
from copilot_admin.evaluation.question_queue import progress_of, stop
from copilot_admin.evaluation.question_rows import (
    answer_differences,
    question_rows,
    questions_in_order,
)
from copilot_admin.evaluation.question_tasks import ask_in_background
from copilot_admin.import_export.loading import as_json
from copilot_admin.models import Action, Copilot, SavedQuestion, Side

FOLDER = "admin/copilot_admin/copilot"
QUESTIONS_OF_A_PAGE = 50
LIST = "admin:copilot_admin_copilot_questions"


class QuestionViews(CopilotViews):
    """Views of saved questions; looking needs no more than seeing the copilot."""

    def question_urls(self) -> list[URLPattern]:
        """The addresses of these pages."""
        wrap = self.admin_site.admin_view
        base, name = "<id:pk>/questions", "copilot_admin_copilot_question"
        return [
            path(f"{base}/", wrap(self.questions_view), name=f"{name}s"),
            path(f"{base}/rows/", wrap(self.question_rows_view), name=f"{name}_rows"),
            path(f"{base}/ask/", wrap(self.ask_questions_view), name=f"{name}_ask"),
            path(f"{base}/stop/", wrap(self.stop_questions_view), name=f"{name}_stop"),
            path(f"{base}/fares/", wrap(self.question_fares_view), name=f"{name}_fares"),
            path(f"{base}/<id:number>/", wrap(self.question_view), name=name),
            path(f"{base}/<id:number>/move/", wrap(self.move_view), name=f"{name}_move"),
            path(
                f"{base}/<id:number>/differences/",
                wrap(self.differences_view),
                name=f"{name}_differences",
            ),
        ]

    def questions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """All questions, with what is expected and both answers."""
        copilot = self.looked_at(request, pk)
        return self._question_page(request, "questions", copilot, self._rows(request, copilot))

    def question_rows_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """The list alone, for a page that watches how far asking has come."""
        copilot = self.looked_at(request, pk)
        context = {"copilot": copilot, **self._rows(request, copilot)}
        return _part(render(request, f"{FOLDER}/question_rows.html", context))

    def question_fares_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """How the questions fare, for the page that asks before publishing."""
        copilot = self.looked_at(request, pk)
        context = {"copilot": copilot, "fares": fares_of([copilot])[copilot.pk]}
        return _part(render(request, f"{FOLDER}/question_fares.html", context))

    def differences_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """What the draft answers otherwise than what is live, with marked words."""
        copilot = self.looked_at(request, pk)
        saved = get_object_or_404(SavedQuestion.objects.defer("body"), copilot=copilot, pk=number)
        context = {
            "copilot": copilot,
            "saved": saved,
            "parts": answer_differences(saved),
            "title": _("What the draft says otherwise"),
        }
        if "part" in request.GET:
            return _part(render(request, f"{FOLDER}/answer_differences.html", context))
        return self._question_page(request, "question_differences", copilot, context)

    def ask_questions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Has all questions asked, or one of them, or those whose answers are missing or old."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        copilot = self.looked_at(request, pk, changing=True)
        user_id = request.user.pk
        self.audit(request, Action.STARTED, copilot, after={"work": "saved questions"})
        awaited = sum(
            ask_in_background(copilot.pk, questions, [side], user_id=user_id)
            for side, questions in _wanted(request, copilot)
        )
        text = ngettext("%(count)d answer is awaited.", "%(count)d answers are awaited.", awaited)
        return self._done(request, copilot, text % {"count": awaited})

    def stop_questions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Asks nothing more; the answers that there are stay."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        copilot = self.looked_at(request, pk, changing=True)
        stop(copilot.pk)
        self.audit(request, Action.STOPPED, copilot, after={"work": "saved questions"})
        text = _("Nothing more is asked. The answers that there are stay.")
        return self._done(request, copilot, text)

    def move_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """Moves a question up or down among the others."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        copilot = self.looked_at(request, pk, changing=True)
        saved = get_object_or_404(SavedQuestion.objects.defer("body"), copilot=copilot, pk=number)
        place = move_question(saved, by=-1 if request.POST.get("way") == "up" else 1)
        text = _("Now at position %(position)d.") % {"position": place}
        return self._done(request, copilot, text, anchor=f"#question-{saved.pk}")

    def question_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """One question: its words and its expectation are edited, or it is deleted."""
        copilot = self.looked_at(request, pk, changing=True)
        saved = get_object_or_404(SavedQuestion, copilot=copilot, pk=number)
        if request.method == "POST" and "_delete" in request.POST:
            with transaction.atomic():
                saved.delete()
                self._audit_question(request, Action.DELETED, copilot, number)
            messages.success(request, _("The question is deleted."))
            return HttpResponseRedirect(reverse(LIST, args=[pk]))
        form = QuestionForm(saved, request.POST if request.method == "POST" else None)
        if form.is_bound and form.is_valid():
            with transaction.atomic():
                form.save()
                self._audit_question(request, Action.CHANGED, copilot, number)
            messages.success(request, _("The question is saved."))
            return HttpResponseRedirect(reverse(LIST, args=[pk]))
        context = {
            "form": form,
            "saved": saved,
            "body": as_json(saved.body) if saved.body else "",
            "title": _("Edit a saved question"),
        }
        return self._question_page(request, "question", copilot, context)

    def _audit_question(
        self, request: HttpRequest, action: Action, copilot: Copilot, number: int
    ) -> None:
        on = Subject("savedquestion", str(number))
        record(action, by=Actor.of(request), on=on, after={"copilot": copilot.slug})

    def _rows(self, request: HttpRequest, copilot: Copilot) -> dict[str, Any]:
        # Before the answers: a page that shows one as missing must know that it comes.
        progress = progress_of(copilot.pk)
        questions = questions_in_order(copilot)
        page = Paginator(questions, QUESTIONS_OF_A_PAGE).get_page(request.GET.get("page"))
        shown = questions[max(page.start_index() - 1, 0) : page.end_index()]
        return {
            "page": page,
            "rows": list(question_rows(copilot, shown)),
            "progress": progress,
            "may_change": self.has_change_permission(request, copilot),
            "may_read": request.user.has_perm("copilot_admin.view_conversation"),
        }

    def _done(
        self, request: HttpRequest, copilot: Copilot, text: str, *, anchor: str = ""
    ) -> HttpResponseBase:
        if "part" in request.GET:
            of_list = request.GET["part"] == "rows"
            view = self.question_rows_view if of_list else self.question_fares_view
            response = view(request, copilot.pk)
            response["X-Said"] = quote(text)
            return response
        messages.info(request, text)
        publishing = request.POST.get("next") == "publish"
        if publishing:
            return HttpResponseRedirect(self.publish_url([copilot.pk]))
        back = reverse(LIST, args=[copilot.pk])
        number = number_in(request.GET.get("page"))
        return HttpResponseRedirect(
            f"{back}?page={number}{anchor}" if number > 1 else back + anchor
        )

    def _question_page(
        self, request: HttpRequest, name: str, copilot: Copilot, context: dict[str, Any]
    ) -> HttpResponse:
        common = {
            **self.page_context(request, _("Saved questions")),
            "copilot": copilot,
        }
        return render(request, f"{FOLDER}/{name}.html", common | context)


def _wanted(request: HttpRequest, copilot: Copilot) -> Iterator[tuple[Side, list[SavedQuestion]]]:
    questions = SavedQuestion.objects.filter(copilot=copilot).defer("body")
    wanted = request.POST.get("side")
    if wanted == "old":
        fares = fares_of([copilot])[copilot.pk]
        for side in Side:
            yield side, list(questions.filter(pk__in=fares.lacking(side)))
        return
    if number := number_in(request.POST.get("question")):
        questions = questions.filter(pk=number)
    for side in Side:
        if wanted in (side, "both"):
            yield side, list(questions)


def _part(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
