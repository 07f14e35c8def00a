"""What the page of a copilot sends when its builder asks: the form as it stands, and a query."""

from functools import partial

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.answering.run import AdmittedQuery
from copilot_admin.errors import MalformedBody, NotFound, UnusableRequest
from copilot_admin.ids import new_ids
from copilot_admin.models import Copilot
from copilot_admin.studio.playground import Witness, builder, draft_in_trial
from protocol.query import Query
from protocol.requests import UnusableQuery, read
from protocol.strict_json import MalformedJson

QUERY_FIELD = "playground"  # of the form; it holds the body that Workspace would send
UNNAMED_FORM_FIELDS = ("seen", "upload")  # who else saved, and a picture, do not change an answer


def query_of_form(
    request: HttpRequest, pk: int, *, user: AbstractBaseUser, tell: Witness
) -> AdmittedQuery:
    """Reads a question to a draft; reads the database, and saves nothing.

    Args:
        request: With the copilot's form and the query.
        pk: Of the copilot.
        user: Who tries it.
        tell: Told of each request to the model.

    Raises:
        NotFound: There is no such copilot.
        MalformedBody: The query is no JSON.
        UnusableRequest: The query asks nothing, or the form cannot be understood.
    """
    text = request.POST.get(QUERY_FIELD, "")
    return AdmittedQuery(
        live=draft_in_trial(_draft(request, pk), tell=tell),
        caller=builder(user),
        query=_query(text.encode()),
        ids=new_ids(request.headers.get("X-Trace-Id", "").encode()),
        size=len(text),
    )


def _draft(request: HttpRequest, pk: int) -> Copilot:
    copilot = Copilot.objects.in_use().filter(pk=pk, deletion_requested_at=None).first()
    if copilot is None:
        raise NotFound(_("This copilot is gone."))
    with transaction.atomic():  # the form locks the row while it looks for other editors
        form = CopilotForm(_typed(request.POST), instance=copilot)
        if not form.is_valid():
            raise UnusableRequest(_faults(form))
        return form.save(commit=False)


def _typed(sent: QueryDict) -> QueryDict:
    typed = sent.copy()
    for name in (QUERY_FIELD, *UNNAMED_FORM_FIELDS):
        typed.pop(name, None)
    return typed


def _faults(form: CopilotForm) -> str:
    """What has to be mended before the draft can be asked, field by field."""
    sentences = [
        f"{form.fields[name].label}: {' '.join(map(str, errors))}"
        if name in form.fields
        else " ".join(map(str, errors))
        for name, errors in form.errors.items()
    ]
    return _("The draft cannot be asked yet. %(faults)s") % {"faults": " ".join(sentences)}


def _query(body: bytes) -> Query:
    reading = partial(read, max_messages=settings.MAX_MESSAGES)
    try:
        return reading(body)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error
