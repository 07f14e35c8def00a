"""Ask a draft or a version; the answer streams as it does to Workspace, with debug events."""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from functools import partial

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AbstractUser, AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.accounts.members import is_reachable
from copilot_admin.admin.common.base import number_in
from copilot_admin.admin.common.widgets import describe_errors
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.agent.values.model_call import ModelCall, ModelMessage
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.errors import (
    Forbidden,
    MalformedBody,
    NotFound,
    RequestError,
    Unauthorized,
    UnusableRequest,
)
from copilot_admin.evaluation.targets import (
    CallObserver,
    make_caller,
    prepare_draft,
    prepare_version,
)
from copilot_admin.http.errors import build_error_response
from copilot_admin.http.streams import EventStreamResponse
from copilot_admin.ids import new_ids
from copilot_admin.models import Copilot, CopilotVersion, Provider
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.runs.tasks import CancelReason
from protocol.json import JsonObject, MalformedJson
from protocol.models import Query
from protocol.parsing import UnusableQuery, parse_query
from protocol.sse import encode

MODEL_CALL_EVENT = "playgroundModelCall"
CHANGE = "copilot_admin.change_copilot"
# Fields of a question that don't belong to the form of the copilot.
QUERY = "playground"  # the body that Workspace would send
VERSION = "playground-version"  # its number, or LIVE; absent: the draft answers
PROVIDER = "playground-provider"  # id of the one that answers instead of the draft's own
MODEL = "playground-model"
LIVE = "live"
ORIGIN = "playground-origin"  # id of the conversation whose question is asked again
OWN_FIELDS = (QUERY, VERSION, PROVIDER, MODEL, ORIGIN)
UNNAMED_FORM_FIELDS = ("seen", "upload")  # other editors and a picture don't change an answer


@require_POST
async def ask(request: HttpRequest, pk: int) -> HttpResponseBase:
    calls: deque[ModelCall] = deque()
    try:
        user = await _load_builder(request)
        body = await sync_to_async(read_file)(request, QUERY)
        admit = partial(_admit_query, request, pk, body, user=user, observe=calls.append)
        run = await open_run(await sync_to_async(admit)())
    except RequestError as error:
        return build_error_response(request, error)
    return EventStreamResponse(
        _add_model_calls(frames(run), calls),
        on_close=partial(run.cancel_from_any_thread, CancelReason.CLIENT_LEFT),
    )


async def _load_builder(request: HttpRequest) -> AbstractUser:
    user = await request.auser()
    if not (isinstance(user, AbstractUser) and user.is_active and user.is_staff):
        raise Unauthorized(_("You are signed out. Sign in in another tab, then ask again."))
    if not await user.ahas_perm(CHANGE):
        raise Forbidden(_("You do not have permission to change copilots."))
    return user


def _admit_query(
    request: HttpRequest, pk: int, body: bytes, *, user: AbstractBaseUser, observe: CallObserver
) -> AdmittedQuery:
    if not is_reachable(user, pk):
        raise NotFound(_("This copilot was deleted."))
    caller = make_caller(user)
    return AdmittedQuery(
        live=build_target(pk, request.POST, observe=observe),
        caller=caller,
        user=caller.user,
        query=_parse_query(body),
        ids=new_ids(request.headers.get("X-Trace-Id", "").encode()),
        size=len(body),
        origin=number_in(request.POST.get(ORIGIN)) or None,
    )


def _parse_query(body: bytes) -> Query:
    try:
        return parse_query(body, max_messages=settings.MAX_MESSAGES)
    except MalformedJson as error:
        raise MalformedBody(error.public, code=error.code) from error
    except UnusableQuery as error:
        raise UnusableRequest(error.public, code=error.code) from error


async def _add_model_calls(
    stream: AsyncGenerator[bytes, None], calls: deque[ModelCall]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            while calls:
                yield _encode_call(calls.popleft())
            yield piece
    while calls:
        yield _encode_call(calls.popleft())


def _encode_call(call: ModelCall) -> bytes:
    payload: JsonObject = {
        "model": call.model,
        "messages": [_message_json(message) for message in call.messages],
        "tools": [asdict(tool) for tool in call.tools],
        "parameters": dict(call.parameters),
    }
    return encode(MODEL_CALL_EVENT, payload)


def _message_json(message: ModelMessage) -> JsonObject:
    more: JsonObject = {
        "tool_call_id": message.tool_call_id,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ],
        "images": [image.name for image in message.images],
    }
    shown = {name: value for name, value in more.items() if value}
    return {"role": message.role.value, "text": message.text, **shown}


def may_build(user: User | AnonymousUser) -> bool:
    """Return whether a user may use the playground; its URLs aren't behind the admin site."""
    return user.is_active and user.is_staff and user.has_perm(CHANGE)


def read_file(request: HttpRequest, name: str) -> bytes:
    """Return JSON that a script sends next to a form: as a file, which no form field limits."""
    file = request.FILES.get(name)
    return request.POST.get(name, "").encode() if file is None else bytes(file.read())


def build_target(pk: int, sent: QueryDict, *, observe: CallObserver) -> LiveCopilot:
    """Prepare the target that a form describes; reads the database, and saves nothing."""
    copilot = Copilot.objects.in_use().filter(pk=pk, deletion_requested_at=None).first()
    if copilot is None:
        raise NotFound(_("This copilot was deleted."))
    if wanted := sent.get(VERSION, ""):
        return prepare_version(_load_version(copilot, wanted), observe=observe)
    form_data = sent.copy()
    for name in (*OWN_FIELDS, *UNNAMED_FORM_FIELDS):
        form_data.pop(name, None)
    has_own_model = bool(sent.get(PROVIDER) or sent.get(MODEL))
    if has_own_model:  # also a draft whose provider was deleted can be tried with another
        provider = Provider.objects.filter(pk=number_in(sent.get(PROVIDER))).first()
        if provider is None:
            raise NotFound(_("This provider was deleted. Choose another."))
        form_data["provider"], form_data["model"] = str(provider.pk), _read_model(sent)
    draft = _read_draft(copilot, form_data)
    return prepare_draft(draft, observe=observe, is_model_fixed=has_own_model)


def _load_version(copilot: Copilot, wanted: str) -> CopilotVersion:
    versions = copilot.versions.select_related("provider", "copilot")
    if wanted == LIVE:
        found = versions.filter(pk=copilot.live_id or 0).first()
        error = _("No version is live. Choose the draft or a version.")
    else:
        number = int(wanted[:9]) if wanted.isdecimal() else 0
        found = versions.filter(number=number).first()
        text = _("Version %(number)s does not exist. Choose another version.")
        error = text % {"number": wanted[:20]}
    if found is None:
        raise NotFound(error)
    return found


def _read_draft(copilot: Copilot, form_data: QueryDict) -> Copilot:
    with transaction.atomic():  # the form locks the row while it looks for other editors
        form = CopilotForm(form_data, instance=copilot)
        if not form.is_valid():
            text = _("Fix the errors in the form first. %s")
            raise UnusableRequest(text % describe_errors(form))
        return form.save(commit=False)


def _read_model(sent: QueryDict) -> str:
    model = sent.get(MODEL, "").strip()
    max_length: int = Copilot._meta.get_field("model").max_length or 0
    if not model or len(model) > max_length:
        raise UnusableRequest(_("Enter a model ID."))
    return model
