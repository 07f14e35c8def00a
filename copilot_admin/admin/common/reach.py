"""A wall before every page of one copilot: who is no member of it is told that there is none."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern

from copilot_admin.accounts.members import is_reachable

_View = Callable[..., HttpResponseBase]
KEYS = ("pk", "object_id")  # what addresses call the id of a copilot


def within_reach(view: _View) -> _View:
    """The view, behind the wall; strangers pass, since the view sends them to the log-in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        wanted = next((str(kwargs[key]) for key in KEYS if key in kwargs), "")
        is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) < 16
        if is_number and request.user.is_authenticated:
            check_reach(request, int(wanted))
        return view(request, *args, **kwargs)

    return guarded


def behind_the_wall(patterns: list[URLPattern]) -> list[URLPattern]:
    """Addresses whose views are all behind the wall."""
    for pattern in patterns:
        pattern.callback = within_reach(cast(_View, pattern.callback))
    return patterns


def check_reach(request: HttpRequest, copilot_id: int) -> None:
    """Lets pass who may know of a copilot.

    Raises:
        Http404: He may not, and is not told more.
    """
    if not is_reachable(request.user, copilot_id):
        raise Http404
