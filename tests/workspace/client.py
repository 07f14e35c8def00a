"""Somebody in Workspace who asks a copilot; the client functions are carried out by the test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import json
from typing import Any, TypeAlias

from openbb_ai.models import (
    CitationCollectionSSE,
    FunctionCallSSE,
    MessageArtifactSSE,
    MessageChunkSSE,
    PromptSuggestionsSSE,
    StatusUpdateSSE,
)

from tests.wire import Line
from tests.workspace.screen import Screen
from tests.workspace.stream import events_of

Event: TypeAlias = tuple[str, Any]
Function: TypeAlias = Callable[[Mapping[str, Any]], list[Any]]
_MODELS: Mapping[str, Any] = {
    "copilotMessageChunk": MessageChunkSSE,
    "copilotFunctionCall": FunctionCallSSE,
    "copilotStatusUpdate": StatusUpdateSSE,
    "copilotMessageArtifact": MessageArtifactSSE,
    "copilotCitationCollection": CitationCollectionSSE,
    "copilotPromptSuggestions": PromptSuggestionsSSE,
}
# Source: a follow-up after a function call comes without these; with the state of the workspace
# only while the copilot may change the dashboard.
_ONLY_FIRST = frozenset({"urls", "timezone", "selected_skills"})
_STATE = "workspace_state"
MAX_STEPS = 8


@dataclass(kw_only=True)
class Workspace:
    """A chat with one copilot.

    Attributes:
        functions: What carries out a client function; it returns the `data` of its result.
        request: Everything that each request says besides the messages.
        messages: The chat so far, as the client would send it.
        requests: The bodies that were posted.
        streams: What came back, byte by byte.
        artifacts: Those of the chat, which every request brings along as context.
    """

    url: str
    path: str
    functions: Mapping[str, Function] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    trace_id: str = "chat-1"
    messages: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    streams: list[bytes] = field(default_factory=list)
    artifacts: list[Any] = field(default_factory=list)
    screen: Screen = field(default_factory=Screen)

    def ask(self, question: str) -> list[list[Event]]:
        """Asks, carries out what the copilot calls, and returns the events of each leg."""
        self.messages.append({"role": "human", "content": question})
        return self.go_on()

    def go_on(self) -> list[list[Event]]:
        """Sends the chat as it is, as `ask` does."""
        legs = [self._post(self.request)]
        while (call := _call_in(legs[-1])) is not None:
            assert len(legs) < MAX_STEPS, "the copilot drives the client in circles"
            self._carry_out(call)
            legs.append(self._post(self._later()))
        self.messages.append({"role": "ai", "content": _in_history(legs[-1])})
        return legs

    def _later(self) -> dict[str, Any]:
        options = self.request.get("workspace_options") or {}
        left_out = _ONLY_FIRST if "generative-ui" in options else _ONLY_FIRST | {_STATE}
        return {key: one for key, one in self.request.items() if key not in left_out}

    def _carry_out(self, call: Mapping[str, Any]) -> None:
        # Source: a pair with an empty extra_state is dropped from the history.
        assert call["extra_state"], "the client would send the same question again"
        made = {"function": call["function"], "input_arguments": call["input_arguments"]}
        result = {
            "role": "tool",
            **made,
            "data": self.functions[call["function"]](call["input_arguments"]),
            "extra_state": call["extra_state"],
        }
        self.messages += [{"role": "ai", "content": json.dumps(made)}, result]

    def _post(self, request: Mapping[str, Any]) -> list[Event]:
        body = {
            "messages": list(self.messages),
            "widgets": {"primary": [], "secondary": [], "extra": []},
            "tools": [],
            "timezone": "Europe/London",
            **request,
            "context": [*map(_as_context, self.artifacts), *request.get("context", [])],
        }
        self.requests.append(body)
        self.streams.append(self._stream(body))
        events = events_of(self.streams[-1])
        for name, data in events:
            _MODELS[name].model_validate({"event": name, "data": data})
        self.screen.take(events)
        self.artifacts += named(events, "copilotMessageArtifact")
        return events

    def _stream(self, body: Mapping[str, Any]) -> bytes:
        headers = {"X-Trace-Id": self.trace_id}
        with Line(self.url + self.path, body=body, headers=headers) as line:
            stream = line.read_all()
        assert line.status == 200, stream
        assert line.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert line.headers["x-trace-id"] == self.trace_id
        return stream


def _as_context(artifact: Mapping[str, Any]) -> dict[str, Any]:
    # Source: the front end's conversion of artifacts to context.
    form = {"data_type": "object", "parse_as": artifact["type"]}
    if artifact["type"] == "chart":
        form["chart_params"] = artifact["chart_params"]
    item = {"content": json.dumps(artifact["content"]), "data_format": form}
    known = {key: artifact[key] for key in ("uuid", "name", "description")}
    return {**known, "data": {"items": [item]}}


def _in_history(events: list[Event]) -> str:
    """The words of an answer, with marks where its artifacts stood."""
    said = ""
    for name, data in events:
        if name == "copilotMessageArtifact":
            said += f"<|start_artifact_id|>{data['name']}<|end_artifact_id|>"
        elif name == "copilotMessageChunk":
            said += data["delta"]
    return said


def text_of(events: list[Event]) -> str:
    """The words of an answer."""
    return "".join(data["delta"] for name, data in events if name == "copilotMessageChunk")


def named(events: list[Event], name: str) -> list[Any]:
    """The data of all events of one kind."""
    return [data for kind, data in events if kind == name]


def _call_in(events: list[Event]) -> Mapping[str, Any] | None:
    calls = named(events, "copilotFunctionCall")
    assert len(calls) <= 1, "one call ends a leg"
    assert not calls or events[-1][0] == "copilotFunctionCall", "the call comes last"
    return calls[0] if calls else None
