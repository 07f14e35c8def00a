"""Views of the playground: ask, rate, save as a test case."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from functools import partial

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AbstractUser
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.accounts.members import is_reachable
from copilot_admin.admin.playground.answers import figures_of, told_event
from copilot_admin.admin.playground.builders import CHANGE, may_build
from copilot_admin.admin.playground.sent import sent_json
from copilot_admin.admin.playground.sides import QUERY, origin_of, side_of
from copilot_admin.admin.transcripts.facts import facts_of, latest_turn
from copilot_admin.admin.transcripts.page import parts_of
from copilot_admin.agent.values.model_call import ModelCall
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.errors import (
    ConfigurationError,
    Forbidden,
    MalformedBody,
    NotFound,
    RequestError,
    Unauthorized,
    UnusableRequest,
)
from copilot_admin.evaluation.playground import Witness, builder
from copilot_admin.http.errors import build_error_body, build_retry_headers
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.ids import new_ids
from copilot_admin.import_export.questions import add_question, read_question
from copilot_admin.models import Action, Conversation, Copilot, Feedback, FeedbackSource, Turn
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.tasks import CancelReason
from copilot_admin.transcripts.feedback import GivenFeedback, store_turn_feedback
from copilot_admin.transcripts.queries import read_outline, read_tree, read_turns
from protocol.models import Query
from protocol.parsing import UnusableQuery, parse_query
from protocol.strict_json import MalformedJson, loads


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
    reading = partial(parse_query, max_messages=settings.MAX_MESSAGES)
    try:
        return reading(body)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error


@require_POST
async def ask(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Asks the draft as the form has it, or a version; streams what Workspace would be sent, and more."""
    told: deque[ModelCall] = deque()
    try:
        user = await _builder(request)
        body = await sync_to_async(sent_query)(request)
        reading = partial(query_of_form, request, pk, body, user=user, tell=told.append)
        run = await open_run(await sync_to_async(reading)())
    except RequestError as error:
        said = build_error_body(error)
        return JsonResponse(said, status=error.status, headers=build_retry_headers(error))
    return EventStreamResponse(
        _with_calls(frames(run), told),
        on_close=partial(run.cancel_from_any_thread, CancelReason.CLIENT_LEFT),
    )


@require_safe
@never_cache
def answer(request: HttpRequest, pk: int) -> HttpResponse:
    """The newest answer of a chat of one's own, drawn as in a transcript."""
    if not may_build(request.user):
        raise PermissionDenied
    rows = Conversation.objects.filter(copilot_id=pk, principal=builder(request.user).principal)
    conversation = get_object_or_404(
        rows.select_related("copilot"), trace_id=request.GET.get("chat", "")
    )
    turn = latest_turn(conversation)
    tree = read_tree(conversation)
    turns = read_turns(conversation, tree, {turn}) if turn else {}
    parts = parts_of(read_outline(conversation, tree), turns)
    if not parts or not parts[0].answers:
        raise Http404
    context = {
        "conversation": conversation,
        "facts": facts_of(conversation),
        "answer": parts[0].answers[-1],
        "figures": figures_of(parts[0].answers[-1]),
        "turn": turn,
        "judged": _judged(turn, since=parts[0].answers[-1].legs[0].run.row.started_at),
        "html_frames": f"{reverse('playground:html', args=[pk])}?{urlencode({'chat': conversation.trace_id})}",
        "may_read": request.user.has_perm("copilot_admin.view_conversation"),
    }
    return render(request, "admin/copilot_admin/playground/answer.html", context)


def _judged(turn: int | None, *, since: datetime) -> int | None:
    """The thumb of the answer that began then, 1 or -1; an older one was for an earlier answer."""
    given = Feedback.objects.filter(
        turn=turn, source=FeedbackSource.END_USER, created_at__gte=since
    )
    return given.values_list("value", flat=True).first()


async def _builder(request: HttpRequest) -> AbstractUser:
    """Who asks.

    Raises:
        Unauthorized: Nobody is logged in any more.
        Forbidden: Somebody who makes no copilots.
    """
    user = await request.auser()
    if not (isinstance(user, AbstractUser) and user.is_active and user.is_staff):
        raise Unauthorized(_("You are logged out. Log in in another tab, then ask again."))
    if not await user.ahas_perm(CHANGE):
        raise Forbidden(_("You may not change copilots. Ask an administrator."))
    return user


async def _with_calls(
    stream: AsyncGenerator[bytes, None], told: deque[ModelCall]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            while told:
                yield told_event(told.popleft())
            yield piece
    while told:
        yield told_event(told.popleft())


VOTES = ("thumbs_up", "thumbs_down")


@require_POST
def judge(request: HttpRequest, pk: int) -> JsonResponse:
    """Keeps a judgement of an answer in a chat of one's own; says what came of it."""
    if not may_build(request.user):
        return _said(_("You may not change copilots. Log in again, then judge."), status=403)
    vote, turn = request.POST.get("vote", ""), _turn(request, pk)
    if vote not in VOTES:
        return _said(_("Choose thumbs up or thumbs down."), status=422)
    if turn is None:
        return _said(_("This answer is not kept any more."), status=404)
    store_turn_feedback(GivenFeedback.model_validate({"vote": vote}), turn=turn)
    return _said(_("Thumbs up is kept.") if vote == VOTES[0] else _("Thumbs down is kept."))


def _turn(request: HttpRequest, pk: int) -> Turn | None:
    wanted = request.POST.get("turn", "")
    if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 16):
        return None
    principal = builder(request.user).principal
    rows = Turn.objects.filter(conversation__copilot_id=pk, conversation__principal=principal)
    return rows.filter(pk=int(wanted)).first()


def _said(sentence: str, *, status: int = 200) -> JsonResponse:
    return JsonResponse({"detail": sentence}, status=status)


FIELD = "question"  # of the form; it holds the question as a copilot file has it


@require_POST
def save(request: HttpRequest, pk: int) -> JsonResponse:
    """Keeps a question with what it brings; says where it is, or why it is not kept."""
    if not may_build(request.user):
        return _refusal(_("You may not change copilots. Log in again, then save."), status=403)
    copilot = Copilot.objects.in_use().filter(pk=pk, deletion_requested_at=None).first()
    if copilot is None:
        return _refusal(_("This copilot is gone."), status=404)
    try:
        entry = read_question(loads(sent_json(request, FIELD)))
        with transaction.atomic():
            saved = add_question(copilot, entry, origin=origin_of(request.POST))
            on, facts = Subject.of(saved), {"copilot": copilot.slug}
            record(Action.ADDED, by=Actor.of(request), on=on, after=facts)
    except (ConfigurationError, MalformedJson) as error:
        return _refusal(_("The question is not saved. %s") % error.public, status=422)
    address = reverse("admin:copilot_admin_copilot_question", args=[pk, saved.pk])
    sentence = _("The question is saved. Say what its answer shall be.")
    return JsonResponse({"sentence": sentence, "url": address})


def _refusal(sentence: str, *, status: int) -> JsonResponse:
    return JsonResponse({"detail": sentence}, status=status)
