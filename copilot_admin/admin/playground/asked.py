"""What the page of a copilot sends when its builder asks: the form as it stands, and a query."""

from functools import partial

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import is_reachable
from copilot_admin.admin.playground.sent import sent_json
from copilot_admin.admin.playground.sides import QUERY, origin_of, side_of
from copilot_admin.errors import MalformedBody, NotFound, UnusableRequest
from copilot_admin.evaluation.playground import Witness, builder
from copilot_admin.ids import new_ids
from copilot_admin.runs.admitted_query import AdmittedQuery
from protocol.query import Query
from protocol.requests import UnusableQuery, read
from protocol.strict_json import MalformedJson


def sent_query(request: HttpRequest) -> bytes:
    """The query that the simulated Workspace sends."""
    return sent_json(request, QUERY)


def query_of_form(
    request: HttpRequest, pk: int, body: bytes, *, user: AbstractBaseUser, tell: Witness
) -> AdmittedQuery:
    """Reads a question to a draft or a version; reads the database, and saves nothing.

    Args:
        request: With the copilot's form or the version that is asked.
        pk: Of the copilot.
        body: The query.
        user: Who tries it.
        tell: Told of each request to the model.

    Raises:
        NotFound: There is no such copilot, version or provider.
        MalformedBody: The query is no JSON.
        UnusableRequest: The query asks nothing, or the form cannot be understood.
    """
    if not is_reachable(user, pk):
        raise NotFound(_("This copilot is gone."))
    caller = builder(user)
    return AdmittedQuery(
        live=side_of(pk, request.POST, tell=tell),
        caller=caller,
        user=caller.user,
        query=_query(body),
        ids=new_ids(request.headers.get("X-Trace-Id", "").encode()),
        size=len(body),
        origin=origin_of(request.POST),
    )


def _query(body: bytes) -> Query:
    reading = partial(read, max_messages=settings.MAX_MESSAGES)
    try:
        return reading(body)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error
