"""Steps that ask the copilot a question, in each generation of the protocol."""

from collections.abc import Sequence
from http import HTTPStatus
import json
from typing import Any
from uuid import uuid4

from django.utils.translation import gettext as _

from copilot_admin.connection_test.documents import (
    MOST_SHOWN,
    DocumentPlace,
    RefusedDocument,
    entry,
    seen_in,
)
from copilot_admin.connection_test.values import (
    Answer,
    Ask,
    ConnectionStep,
    Setup,
    StepResult,
    StepVerdict,
    Unreached,
    good,
)
from protocol.json import Json
from protocol.models import Generation
from protocol.sse import EventTooLarge, decode
from protocol.strict_json import MalformedJson, loads

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


def question(generation: Generation) -> ConnectionStep:
    """Return the step for a generation."""

    async def step(setup: Setup, ask: Ask) -> StepResult:
        try:
            answer = await _asked(generation, setup, ask)
        except RefusedDocument as refused:
            return refused.result
        except Unreached as error:
            return _bad(
                _("No complete answer. %(why)s") % {"why": error.public},
                fix=_("Check its provider and the timeouts of your proxy."),
            )
        return (
            _no_stream(answer, setup)
            or _unreadable(answer, generation)
            or await _ended(answer, generation, setup)
        )

    return step


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


async def _asked(generation: Generation, setup: Setup, ask: Ask) -> Answer:
    place = DocumentPlace.AGENTS if generation is Generation.THREE else DocumentPlace.COPILOTS
    found = await entry(setup, ask, place)
    headers = {
        "Content-Type": "application/json",
        "X-Trace-Id": str(uuid4()),
        "X-API-Key": setup.key,
    }
    return await ask(
        "POST",
        found["endpoints"]["query"],
        headers=headers,
        body=body_of(generation),
        seconds=SECONDS,
    )


def _no_stream(answer: Answer, setup: Setup) -> StepResult | None:
    if answer.status != HTTPStatus.OK:
        return _bad(
            _("The question was rejected with status %(status)d.") % {"status": answer.status},
            fix=setup.problem
            or _("Server response below. If it isn't from this server, check your proxy."),
            details=seen_in(answer),
        )
    if answer.kind != "text/event-stream":
        return _bad(
            _("The answer is “%(kind)s”, not an event stream.") % {"kind": answer.kind[:100]},
            fix=_("Configure your proxy to forward responses unchanged."),
            details=seen_in(answer),
        )
    return None


def _unreadable(answer: Answer, generation: Generation) -> StepResult | None:
    try:
        events = decode(answer.body)
        data = [loads(text.encode()) for _name, text in events]
    except (EventTooLarge, MalformedJson) as error:
        return _bad(
            _("An event of the stream is not valid. Workspace stops reading there."),
            fix=_("Configure your proxy not to change or compress responses."),
            details=(str(error),),
        )
    if answer.body and not answer.body.endswith(b"\n\n"):
        return _bad(
            _("The stream was cut off mid-event."),
            fix=_("Increase the read timeout of your proxy."),
        )
    unknown = sorted({name for name, _text in events} - EVENTS[generation])
    if unknown:
        return _bad(
            _("The stream has events that this version of Workspace doesn't know."),
            fix=_("Another server, or another version of this one, answers at this URL."),
            details=tuple(name[:100] for name in unknown),
        )
    if not data:
        return _bad(
            _("The stream is empty."),
            fix=_("Read the conversation: set the filter “Playground” in the list."),
        )
    return None


async def _ended(answer: Answer, generation: Generation, setup: Setup) -> StepResult:
    names = [name for name, _text in decode(answer.body)]
    details = (_measured(answer, names), *_words(answer))
    kept = await setup.kept(answer.headers.get("x-completion-id", ""))
    if kept is None:
        return _bad(
            _("An answer came, but not from this server."),
            fix=_("Another server answers at this URL. Set PUBLIC_URL."),
            details=details,
        )
    if kept.error or kept.outcome != "completed":
        return _bad(
            _("The copilot couldn't answer. %(why)s") % {"why": kept.error or kept.outcome},
            fix=_("Test its provider, or read the conversation of this question."),
            details=details,
        )
    if kept.generation != generation:
        return _bad(
            _("The question was read as generation %(read)d.") % {"read": kept.generation},
            fix=_("Configure your proxy not to change URLs and bodies."),
            details=details,
        )
    if _was_held_back(answer):
        return StepResult(
            verdict=StepVerdict.WARN,
            sentence=_("The answer was delivered all at once instead of word by word."),
            fix=_("Turn off buffering and compression in your proxy."),
            details=details,
        )
    return good(_("Answered; the stream was read completely."), *details)


def _was_held_back(answer: Answer) -> bool:
    first = answer.first_ms or 0
    return answer.ms > SLOW_MS and first > answer.ms * 0.9


def _measured(answer: Answer, names: Sequence[str]) -> str:
    text = _("First event after %(first)d ms, last after %(ms)d ms, %(count)d events.")
    return text % {"first": answer.first_ms or 0, "ms": answer.ms, "count": len(names)}


def _words(answer: Answer) -> tuple[str, ...]:
    deltas = [
        _field(loads(text.encode()), "delta")
        for name, text in decode(answer.body)
        if name == "copilotMessageChunk"
    ]
    words = "".join(deltas).strip()
    return (words[:MOST_SHOWN],) if words else ()


def _field(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _bad(sentence: str, *, fix: str, details: tuple[str, ...] = ()) -> StepResult:
    return StepResult(
        verdict=StepVerdict.BAD, sentence=sentence, fix=fix, details=tuple(filter(None, details))
    )
