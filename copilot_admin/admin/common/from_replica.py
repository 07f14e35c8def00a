"""Pages that only read, asked of the read replica; of the primary where that cannot say enough."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django import db
from django.http import Http404, HttpRequest, HttpResponseBase
from django.template.response import SimpleTemplateResponse

from copilot_admin.http.fresh_pages import reads_primary
from copilot_admin.storage.database_thread import is_outage, was_cut
from copilot_admin.storage.replica import REPLICA, reading_replica

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class AskPrimary(Exception):
    """Raised by a page that shows what changes at the moment."""


def from_replica(view: View) -> View:
    """Lets a view (a method) read from the replica.

    It may be called twice: what the replica does not know may have come just now, and one that
    breaks is no reason for an error. So it changes nothing.
    """

    @wraps(view)
    def served(self: object, request: HttpRequest, *args: Any, **options: Any) -> HttpResponseBase:
        if not reads_primary(request) and REPLICA.may_be_asked():
            try:
                with reading_replica():
                    return _rendered(view(self, request, *args, **options))
            except (AskPrimary, Http404):
                pass
            except db.Error as error:
                # What takes too long there does so here.
                if not is_outage(error) or was_cut(error):
                    raise
                REPLICA.leave_alone(type(error).__name__)
        return view(self, request, *args, **options)

    return cast(View, served)


def _rendered(response: HttpResponseBase) -> HttpResponseBase:
    """A template reads rows too, and Django renders it later."""
    return response.render() if isinstance(response, SimpleTemplateResponse) else response
