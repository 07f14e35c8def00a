"""The pages of a copilot's saved questions: the list with both answers, asking, editing."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.copilots.questions_form import QuestionForm
from copilot_admin.admin.copilots.views import CopilotViews, number_in
from copilot_admin.copilot_file.loading import as_json
from copilot_admin.models import Copilot, SavedQuestion, Side
from copilot_admin.studio.question_queue import progress_of, stop
from copilot_admin.studio.question_rows import question_rows
from copilot_admin.studio.question_tasks import ask_in_background

FOLDER = "admin/copilot_admin/copilot"
LIST = "admin:copilot_admin_copilot_questions"


class QuestionViews(CopilotViews):
    """Views of saved questions; looking needs no more than seeing the copilot."""

    def question_urls(self) -> list[URLPattern]:
        """The addresses of these pages."""
        wrap = self.admin_site.admin_view
        base, name = "<int:pk>/questions", "copilot_admin_copilot_question"
        return [
            path(f"{base}/", wrap(self.questions_view), name=f"{name}s"),
            path(f"{base}/rows/", wrap(self.question_rows_view), name=f"{name}_rows"),
            path(f"{base}/ask/", wrap(self.ask_questions_view), name=f"{name}_ask"),
            path(f"{base}/stop/", wrap(self.stop_questions_view), name=f"{name}_stop"),
            path(f"{base}/<int:number>/", wrap(self.question_view), name=name),
        ]

    def questions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """All questions, with what is expected and both answers."""
        copilot = self._asked(request, pk)
        return self._question_page(request, "questions", copilot, self._rows(request, copilot))

    def question_rows_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """The list alone, for a page that watches how far asking has come."""
        copilot = self._asked(request, pk)
        context = {"copilot": copilot, **self._rows(request, copilot)}
        response = render(request, f"{FOLDER}/question_rows.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def ask_questions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Has all questions asked, or one of them."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        copilot = self._asked(request, pk, changing=True)
        questions = SavedQuestion.objects.filter(copilot=copilot)
        if number := number_in(request.POST.get("question")):
            questions = questions.filter(pk=number)
        sides = [side for side in Side if request.POST.get("side") in (side, "both")]
        awaited = ask_in_background(copilot.pk, list(questions), sides, user_id=request.user.pk)
        text = ngettext("%(count)d answer is awaited.", "%(count)d answers are awaited.", awaited)
        messages.info(request, text % {"count": awaited})
        return HttpResponseRedirect(reverse(LIST, args=[pk]))

    def stop_questions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Asks nothing more; the answers that there are stay."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        stop(self._asked(request, pk, changing=True).pk)
        messages.info(request, _("Nothing more is asked. The answers that there are stay."))
        return HttpResponseRedirect(reverse(LIST, args=[pk]))

    def question_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """One question: its words and its expectation are edited, or it is deleted."""
        copilot = self._asked(request, pk, changing=True)
        saved = get_object_or_404(SavedQuestion, copilot=copilot, pk=number)
        if request.method == "POST" and "_delete" in request.POST:
            saved.delete()
            messages.success(request, _("The question is deleted."))
            return HttpResponseRedirect(reverse(LIST, args=[pk]))
        form = QuestionForm(saved, request.POST if request.method == "POST" else None)
        if form.is_bound and form.is_valid():
            form.save()
            messages.success(request, _("The question is saved."))
            return HttpResponseRedirect(reverse(LIST, args=[pk]))
        context = {"form": form, "saved": saved, "body": as_json(saved.body) if saved.body else ""}
        return self._question_page(request, "question", copilot, context)

    def _rows(self, request: HttpRequest, copilot: Copilot) -> dict[str, Any]:
        return {
            "rows": list(question_rows(copilot)),
            "progress": progress_of(copilot.pk),
            "may_change": self.has_change_permission(request, copilot),
            "may_read": request.user.has_perm("copilot_admin.view_conversation"),
        }

    def _asked(self, request: HttpRequest, pk: int, *, changing: bool = False) -> Copilot:
        rows = self.get_queryset(request).select_related("provider", "live")
        copilot = get_object_or_404(rows, pk=pk)
        may = self.has_change_permission if changing else self.has_view_permission
        if not may(request, copilot):
            raise PermissionDenied
        return copilot

    def _question_page(
        self, request: HttpRequest, name: str, copilot: Copilot, context: dict[str, Any]
    ) -> HttpResponse:
        common = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "copilot": copilot,
            "title": _("Saved questions"),
        }
        return render(request, f"{FOLDER}/{name}.html", common | context)
