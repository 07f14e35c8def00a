"""The views of the playground: a question to the unsaved draft, and its answer as blocks.

Asking is a query like any other, with a session instead of a key: it is on the query path, and so
it is asynchronous, as nothing else in the admin is.
"""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from functools import partial

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.playground.asked import query_of_form, sent_query
from copilot_admin.admin.playground.builders import CHANGE, may_build
from copilot_admin.admin.playground.figures import figures_of
from copilot_admin.admin.playground.told import told_event
from copilot_admin.admin.transcripts.facts import facts_of, latest_turn
from copilot_admin.admin.transcripts.page import parts_of
from copilot_admin.agent.values.model_call import ModelCall
from copilot_admin.errors import Forbidden, RequestError, Unauthorized
from copilot_admin.evaluation.playground import builder
from copilot_admin.http.errors import build_error_body, build_retry_headers
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.models import Conversation, Feedback, FeedbackSource
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.stops import Stop
from copilot_admin.transcripts.queries import read_outline, read_tree, read_turns


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
        on_close=partial(run.stop_from_any_thread, Stop.CLIENT_GONE),
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
        "judged": _judged(turn, since=parts[0].answers[-1].legs[0].run.started_at),
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
    """The frames, and before them what the model was asked since the last."""
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            while told:
                yield told_event(told.popleft())
            yield piece
    while told:
        yield told_event(told.popleft())
