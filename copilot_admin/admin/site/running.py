"""The page that says what runs in the background, and the stops of what can be stopped."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.components.catalogue import ComponentViews
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.evaluation.question_queue import stop
from copilot_admin.evaluation.replay_decisions import ReplayWish
from copilot_admin.evaluation.replay_tasks import wish
from copilot_admin.evaluation.running import MOST_SHOWN, WorkKind, queued_tasks, running
from copilot_admin.models import Action

WATCH = "copilot_admin.watch_background"
FOLDER = "admin/copilot_admin/running"


class RunningViews(ComponentViews):
    """What runs, for those who operate the servers."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        own: list[URLPattern | URLResolver] = [
            path("running/", self.admin_view(self.running_view), name="running"),
            path("running/rows/", self.admin_view(self.running_rows_view), name="running_rows"),
            path("running/wish/", self.admin_view(self.running_wish_view), name="running_wish"),
        ]
        return own + super().get_urls()

    def places(self, request: HttpRequest) -> list[dict[str, str]]:
        """The links of the rail that lead to no model."""
        places = super().places(request)
        if not request.user.has_perm(WATCH):
            return places
        url = reverse(f"{self.name}:running")
        return [
            *places,
            {"object_name": "Running", "name": _("In the background"), "admin_url": url},
        ]

    @method_decorator(require_safe)
    def running_view(self, request: HttpRequest) -> HttpResponse:
        """The page of all work that is under way."""
        context = {**self.each_context(request), "title": _("In the background"), **_found(request)}
        return render(request, f"{FOLDER}/page.html", context)

    @method_decorator(require_safe)
    def running_rows_view(self, request: HttpRequest) -> HttpResponse:
        """The same without the page around it, for one that watches."""
        response = render(request, f"{FOLDER}/rows.html", _found(request))
        response["Cache-Control"] = "no-store"
        return response

    @method_decorator(require_POST)
    def running_wish_view(self, request: HttpRequest) -> HttpResponse:
        """Pauses, lets go on or stops something that runs in the background."""
        _check(request)
        number = request.POST.get("of", "")
        if not (number.isascii() and number.isdecimal() and len(number) <= 18):
            raise Http404
        is_done = _granted(request.POST.get("kind"), int(number), request.POST.get("wish"))
        if is_done:
            kind, wanted = request.POST.get("kind", ""), request.POST.get("wish", "")
            on, by = Subject(kind, number), Actor.of(request)
            record(Action.CHANGED, by=by, on=on, after={"wish": wanted})
            messages.success(request, _("Done. It may take some seconds."))
        else:
            messages.info(request, _("It has ended meanwhile."))
        return HttpResponseRedirect(reverse(f"{self.name}:running"))


def _check(request: HttpRequest) -> None:
    if not request.user.has_perm(WATCH):
        raise PermissionDenied


def _found(request: HttpRequest) -> dict[str, Any]:
    _check(request)
    works = running()
    return {
        "works": works,
        "n_moving": sum(work.is_moving for work in works),
        "tasks": queued_tasks(),
        "has_workers": settings.BACKGROUND == "database",
        "most": MOST_SHOWN,
    }


def _granted(kind: str | None, number: int, wanted: str | None) -> bool:
    """Does what somebody wants of a work.

    Raises:
        Http404: There is no such thing to want.
    """
    try:
        one = ReplayWish(wanted or "")
    except ValueError as error:
        raise Http404 from error
    if kind == WorkKind.REPLAY:
        return wish(number, one)
    if kind == WorkKind.QUESTIONS and one is ReplayWish.STOP:
        stop(number)
        return True
    raise Http404
