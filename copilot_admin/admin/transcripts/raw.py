"""Raw requests and events of a run, for people who look for the cause of a problem."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import json
import shlex
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from copilot_admin.admin.transcripts.conversation_page import find_turn_of_key
from copilot_admin.admin.transcripts.pages import load_conversation, render_part
from copilot_admin.evaluation.from_turns import read_question
from copilot_admin.http.middleware import get_base_url
from copilot_admin.models import OTHER_EVENT, Conversation, EventType, Node
from copilot_admin.rendering.text import pretty_json
from copilot_admin.transcripts.queries.reading import (
    WHOLE,
    Extent,
    RunView,
    TurnView,
    attempts_of,
    read_request,
    read_turns,
)
from copilot_admin.transcripts.queries.tree import Tree
from protocol.events import (
    CitationCollection,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.json import Json, JsonObject, object_of

MAX_SHOWN = 200_000  # characters of a JSON text on a page; the download has all of it
RAW_EXTENT = Extent(events=1_000)  # a page of so many events is drawn in a second

WIRE_NAMES = {
    EventType.STATUS.value: StatusUpdate.name,
    EventType.COMPONENT.value: StatusUpdate.name,
    EventType.ARTIFACT.value: MessageArtifact.name,
    EventType.CITATION.value: CitationCollection.name,
    EventType.FUNCTION_CALL.value: FunctionCall.name,
    EventType.SUGGESTIONS.value: PromptSuggestions.name,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """An event; `name` is "" for one that only the server saw, `at_ms` None for text."""

    name: str
    type: str
    data: Json
    at_ms: int | None

    @property
    def text(self) -> str:
        return pretty_json(self.data)[:MAX_SHOWN]


def raw_events(run: RunView) -> Iterator[RawEvent]:
    """Yield the events of a run in the format of generation 3, with the text between them."""
    done = 0
    for event in sorted(run.events, key=lambda event: (event.text_offset, event.ord)):
        yield from _chunk(run.answer[done : event.text_offset])
        done = max(done, event.text_offset)
        name, data = WIRE_NAMES.get(event.type, ""), event.payload
        if event.type == OTHER_EVENT and data is not None and "event" in data:
            name, data = str(data["event"]), object_of(data.get("data"))
        yield RawEvent(name=name, type=event.type, data=data, at_ms=event.at_ms)
    yield from _chunk(run.answer[done:])


def _chunk(text: str) -> Iterator[RawEvent]:
    if text:
        yield RawEvent(name=MessageChunk.name, type="text", data={"delta": text}, at_ms=None)


def _messages(path: Sequence[TurnView], run: RunView) -> Iterator[JsonObject]:
    for turn in path:
        yield from map(_message, turn.history)
        if turn.question:
            yield _message(turn.question)
        yield from _answer_messages(turn, until=run)


def _answer_messages(turn: TurnView, *, until: RunView) -> Iterator[JsonObject]:
    attempts = attempts_of(turn.runs)
    chosen = next((one for one in attempts if until in one), attempts[-1] if attempts else ())
    known: set[int] = set()
    for run in chosen:
        new = [message for message in run.received if message.pk not in known]
        known |= {message.pk for message in new}
        yield from map(_message, new)
        if run is until:
            return
        if run.answer:
            yield {"role": "ai", "content": run.answer}
        if run.call is not None:
            call = {"function": run.call.function, "input_arguments": run.call.arguments}
            yield {"role": "ai", "content": call}


def _message(message: Node) -> JsonObject:
    if message.data is None:
        return {"role": message.role, "content": message.text}
    return {"role": message.role, **message.data}


def run_view(request: HttpRequest, pk: int, run: UUID) -> HttpResponse:
    conversation = load_conversation(request, pk, view="run", of=run)
    body, view = load_request(conversation, run)
    whole = pretty_json(body)
    context = {
        "run": view,
        "events": list(raw_events(view)),
        "request_text": whole[:MAX_SHOWN],
        "request_is_cut": len(whole) > MAX_SHOWN,
    }
    return render_part(request, "raw.html", "run.html", conversation, **context)


def request_view(request: HttpRequest, pk: int, run: UUID) -> HttpResponse:
    conversation = load_conversation(request, pk, view="request", of=run)
    body, _view = load_request(conversation, run)
    response = HttpResponse(pretty_json(body), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="request-{run}.json"'
    return response


def curl_view(request: HttpRequest, pk: int, run: UUID) -> HttpResponse:
    conversation = load_conversation(request, pk, view="request", of=run)
    body, _view = load_request(conversation, run)
    url = f"{get_base_url(request)}/v1/copilots/{conversation.copilot.slug}/query"
    # On one line, so that its content can't end the here-document.
    text = (
        f"curl -N {shlex.quote(url)} \\\n"
        "  -H 'Content-Type: application/json' -H \"X-API-Key: $COPILOT_KEY\" \\\n"
        f"  --data-binary @- <<'REQUEST'\n{json.dumps(body, ensure_ascii=False)}\nREQUEST\n"
    )
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def question_view(request: HttpRequest, pk: int, turn: int) -> HttpResponse:
    conversation = load_conversation(request, pk)
    path = _read_path(conversation, Tree(conversation), turn)
    if not path:
        raise Http404
    origin = conversation.origin or conversation.pk
    return JsonResponse({**read_question(path), "origin": origin})


def load_request(conversation: Conversation, run: UUID) -> tuple[Any, RunView]:
    """Return a stored request with its messages, and its run; raise Http404 without one."""
    tree = Tree(conversation)
    turn = find_turn_of_key(conversation, tree, f"r{run.hex}")
    path = _read_path(conversation, tree, turn, extent=RAW_EXTENT)
    found = next((one for view in path for one in view.runs if one.id == run), None)
    if found is None:
        raise Http404
    rest = object_of(read_request(run) if found.has_request else None)
    return {"messages": list(_messages(path, found)), **rest}, found


def _read_path(
    conversation: Conversation, tree: Tree, turn: int | None, *, extent: Extent = WHOLE
) -> list[TurnView]:
    above = [place.id for place in tree.path_to(turn)]
    turns = read_turns(conversation, tree, above, extent=extent)
    return [turns[one] for one in above]
