"""Access to the pages of one copilot: people who aren't members get a 404."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern

from copilot_admin.accounts.members import is_reachable

_View = Callable[..., HttpResponseBase]
KEYS = ("pk", "object_id")  # names of the copilot's id in URLs


def require_copilot_access(view: _View) -> _View:
    """Wrap a view; anonymous users pass, because the view sends them to the sign-in page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        pk = str(next((kwargs[key] for key in KEYS if key in kwargs), ""))
        is_id = pk.isascii() and pk.isdecimal() and len(pk) < 16
        user = request.user
        if is_id and user.is_authenticated and not is_reachable(user, int(pk)):
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def require_copilot_access_in(patterns: list[URLPattern]) -> list[URLPattern]:
    for pattern in patterns:
        pattern.callback = require_copilot_access(cast(_View, pattern.callback))
    return patterns
