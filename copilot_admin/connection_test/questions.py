"""Steps that ask the copilot a question, in each generation of the protocol."""

from collections.abc import Sequence
from http import HTTPStatus
import json
from typing import Any
from uuid import uuid4

from django.utils.translation import gettext as _

from copilot_admin.connection_test.documents import MAX_SHOWN, DocumentPlace, entry, seen_in
from copilot_admin.connection_test.values import (
    Answer,
    Ask,
    Setup,
    StepFailed,
    StepResult,
    Unreached,
    good,
    warning,
)
from protocol.json import Json, MalformedJson, loads, text_of
from protocol.models import Generation
from protocol.sse import EventTooLarge, decode

QUESTION = "What can you do? Answer in one sentence."
SECONDS = 60.0  # a user waits; a model answers so short a question in less
# A slower answer whose first byte came in its last tenth was buffered on its way.
SLOW_MS = 2000
_ONE = frozenset({"copilotMessageChunk", "copilotFunctionCall"})
_TWO = _ONE | {"copilotStatusUpdate", "copilotMessageArtifact", "copilotCitationCollection"}
EVENTS = {
    Generation.ONE: _ONE,
    Generation.TWO: _TWO,
    Generation.THREE: _TWO | {"copilotPromptSuggestions"},
}


async def check_question(generation: Generation, setup: Setup, ask: Ask) -> StepResult:
    """Check that a question of a generation is answered with a stream that Workspace can read."""
    try:
        answer = await _send_question(generation, setup, ask)
    except Unreached as error:
        raise StepFailed(
            _("No complete answer. %(why)s") % {"why": error.public},
            fix=_("Check its provider and the timeouts of your proxy."),
        ) from error
    _check_head(answer, setup)
    events = _read_events(answer, generation)
    text = _("First event after %(first)d ms, last after %(ms)d ms, %(count)d events.")
    numbers = {"first": answer.first_ms or 0, "ms": answer.ms, "count": len(events)}
    details = (text % numbers, _join_text(events))
    await _check_stored(answer, generation, setup, details)
    if answer.ms > SLOW_MS and (answer.first_ms or 0) > answer.ms * 0.9:
        return warning(
            _("The answer was delivered all at once instead of word by word."),
            fix=_("Turn off buffering and compression in your proxy."),
            details=details,
        )
    return good(_("Answered; the stream was read completely."), *filter(None, details))


def body_of(generation: Generation) -> bytes:
    """Return a question as Workspace of a generation sends it, with an empty dashboard."""
    body: dict[str, Json] = {"messages": [{"role": "human", "content": QUESTION}]}
    if generation is Generation.ONE:
        body |= {"context": [], "use_docs": False, "widgets": []}
    else:
        body |= {"context": [], "widgets": {"primary": [], "secondary": [], "extra": []}}
    if generation is Generation.THREE:
        body |= {
            "urls": [],
            "timezone": "UTC",
            "tools": [],
            "workspace_state": {},
            "workspace_options": {},
        }
    return json.dumps(body).encode()


async def _send_question(generation: Generation, setup: Setup, ask: Ask) -> Answer:
    place = DocumentPlace.AGENTS if generation is Generation.THREE else DocumentPlace.COPILOTS
    found = await entry(setup, ask, place)
    headers = {
        "Content-Type": "application/json",
        "X-Trace-Id": str(uuid4()),
        "X-API-Key": setup.key,
    }
    return await ask(
        "POST",
        found.endpoints.query,
        headers=headers,
        data=body_of(generation),
        seconds=SECONDS,
    )


def _check_head(answer: Answer, setup: Setup) -> None:
    if answer.status != HTTPStatus.OK:
        raise StepFailed(
            _("The question was rejected with status %(status)d.") % {"status": answer.status},
            fix=setup.problem
            or _("Server response below. If it isn't from this server, check your proxy."),
            details=seen_in(answer),
        )
    if answer.kind != "text/event-stream":
        raise StepFailed(
            _("The answer is “%(kind)s”, not an event stream.") % {"kind": answer.kind[:100]},
            fix=_("Configure your proxy to forward responses unchanged."),
            details=seen_in(answer),
        )


def _read_events(answer: Answer, generation: Generation) -> list[tuple[str, Any]]:
    try:
        events = [(name, loads(text.encode())) for name, text in decode(answer.body)]
    except (EventTooLarge, MalformedJson) as error:
        raise StepFailed(
            _("An event of the stream is not valid. Workspace stops reading there."),
            fix=_("Configure your proxy not to change or compress responses."),
            details=(str(error),),
        ) from error
    if answer.body and not answer.body.endswith(b"\n\n"):
        raise StepFailed(
            _("The stream was cut off mid-event."),
            fix=_("Increase the read timeout of your proxy."),
        )
    unknown = sorted({name for name, _data in events} - EVENTS[generation])
    if unknown:
        raise StepFailed(
            _("The stream has events that this version of Workspace doesn't know."),
            fix=_("Another server, or another version of this one, answers at this URL."),
            details=tuple(name[:100] for name in unknown),
        )
    if not events:
        raise StepFailed(
            _("The stream is empty."),
            fix=_("Read the conversation: set the filter “Playground” in the list."),
        )
    return events


async def _check_stored(
    answer: Answer, generation: Generation, setup: Setup, details: tuple[str, ...]
) -> None:
    run = await setup.load_run(answer.headers.get("x-completion-id", ""))
    if run is None:
        raise StepFailed(
            _("An answer came, but not from this server."),
            fix=_("Another server answers at this URL. Set PUBLIC_URL."),
            details=details,
        )
    if run.error or run.outcome != "completed":
        raise StepFailed(
            _("The copilot couldn't answer. %(why)s") % {"why": run.error or run.outcome},
            fix=_("Test its provider, or read the conversation of this question."),
            details=details,
        )
    if run.generation != generation:
        raise StepFailed(
            _("The question was read as generation %(read)d.") % {"read": run.generation},
            fix=_("Configure your proxy not to change URLs and bodies."),
            details=details,
        )


def _join_text(events: Sequence[tuple[str, Any]]) -> str:
    chunks = [data for name, data in events if name == "copilotMessageChunk"]
    deltas = [text_of(data.get("delta")) for data in chunks if isinstance(data, dict)]
    return "".join(deltas).strip()[:MAX_SHOWN]
