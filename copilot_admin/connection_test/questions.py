"""The steps in which the copilot is asked a first question, in each generation of the protocol."""

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
SECONDS = 60.0  # somebody watches; an answer to so short a question takes a model less
# An answer that took longer than this and came in its last tenth was held back on its way.
SLOW_MS = 2000
_ONE = frozenset({"copilotMessageChunk", "copilotFunctionCall"})
_TWO = _ONE | {"copilotStatusUpdate", "copilotMessageArtifact", "copilotCitationCollection"}
EVENTS = {
    Generation.ONE: _ONE,
    Generation.TWO: _TWO,
    Generation.THREE: _TWO | {"copilotPromptSuggestions"},
}


def question(generation: Generation) -> ConnectionStep:
    """The step that asks in a generation."""

    async def step(setup: Setup, ask: Ask) -> StepResult:
        try:
            answer = await _asked(generation, setup, ask)
        except RefusedDocument as refused:
            return refused.result
        except Unreached as error:
            return _bad(
                _("No whole answer came. %(why)s") % {"why": error.public},
                mend=_("Look whether its provider answers, and how long the proxy waits."),
            )
        return (
            _no_stream(answer, setup)
            or _unreadable(answer, generation)
            or await _ended(answer, generation, setup)
        )

    return step


def body_of(generation: Generation) -> bytes:
    """A first question as Workspace of a generation sends it, with an empty dashboard."""
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
            _("The question was refused with %(status)d.") % {"status": answer.status},
            mend=setup.problem
            or _(
                "What the server said stands here; if it is not from this server, mend the proxy."
            ),
            details=seen_in(answer),
        )
    if answer.kind != "text/event-stream":
        return _bad(
            _("The answer came as “%(kind)s”, not as a stream of events.")
            % {"kind": answer.kind[:100]},
            mend=_("Let the proxy pass answers on as they are."),
            details=seen_in(answer),
        )
    return None


def _unreadable(answer: Answer, generation: Generation) -> StepResult | None:
    try:
        events = decode(answer.body)
        data = [loads(text.encode()) for _name, text in events]
    except (EventTooLarge, MalformedJson) as error:
        return _bad(
            _("An event of the stream cannot be read; Workspace ends the answer there."),
            mend=_("Let the proxy change nothing in answers, and compress none."),
            details=(str(error),),
        )
    if answer.body and not answer.body.endswith(b"\n\n"):
        return _bad(
            _("The stream ends in the middle of an event, which Workspace throws away."),
            mend=_("Let the proxy wait for as long as an answer takes."),
        )
    unknown = sorted({name for name, _text in events} - EVENTS[generation])
    if unknown:
        return _bad(
            _("The stream has events that this generation does not know."),
            mend=_("Another server answers here, or another version of it."),
            details=tuple(name[:100] for name in unknown),
        )
    if not data:
        return _bad(
            _("The stream ended without an event."),
            mend=_("Read the transcript: the filter “playground” of the list shows it."),
        )
    return None


async def _ended(answer: Answer, generation: Generation, setup: Setup) -> StepResult:
    names = [name for name, _text in decode(answer.body)]
    details = (_measured(answer, names), *_words(answer))
    kept = await setup.kept(answer.headers.get("x-completion-id", ""))
    if kept is None:
        return _bad(
            _("An answer came, but this server has no transcript of it."),
            mend=_("Another server answers under this address: set PUBLIC_URL."),
            details=details,
        )
    if kept.error or kept.outcome != "completed":
        return _bad(
            _("The copilot could not answer. %(why)s") % {"why": kept.error or kept.outcome},
            mend=_("Test its provider, or read the transcript of this question."),
            details=details,
        )
    if kept.generation != generation:
        return _bad(
            _("The question was read as one of generation %(read)d.") % {"read": kept.generation},
            mend=_("Let the proxy leave addresses and bodies as they are."),
            details=details,
        )
    if _was_held_back(answer):
        return StepResult(
            verdict=StepVerdict.WARN,
            sentence=_("The answer came all at once, when it was complete."),
            mend=_(
                "Switch off buffering and compression in the proxy: people see words as they come."
            ),
            details=details,
        )
    return good(_("It answered, and the stream was read to its end."), *details)


def _was_held_back(answer: Answer) -> bool:
    first = answer.first_ms or 0
    return answer.ms > SLOW_MS and first > answer.ms * 0.9


def _measured(answer: Answer, names: Sequence[str]) -> str:
    text = _("First event after %(first)d ms, the last after %(ms)d ms; %(count)d events.")
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


def _bad(sentence: str, *, mend: str, details: tuple[str, ...] = ()) -> StepResult:
    return StepResult(
        verdict=StepVerdict.BAD, sentence=sentence, mend=mend, details=tuple(filter(None, details))
    )
