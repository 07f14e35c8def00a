"""A user of Workspace who asks a copilot; the client functions are carried out by the test."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
import json
from typing import Any, TypeAlias

from openbb_ai import models

from protocol.models import Generation
from tests.wire import Line
from tests.workspace.stream import KNOWN, check_shown, events_of

Event: TypeAlias = tuple[str, Any]
Function: TypeAlias = Callable[[Mapping[str, Any]], list[Any]]
_MODELS = {name: getattr(models, f"{name.removeprefix('copilot')}SSE") for name in KNOWN}
# Source: a follow-up after a function call comes without these; with the state of the workspace
# only while the copilot may change the dashboard.
_ONLY_FIRST = frozenset({"urls", "timezone", "selected_skills"})
_STATE = "workspace_state"
MAX_STEPS = 8


@dataclass(kw_only=True)
class _Chat:
    """A chat with one copilot.

    Attributes:
        messages: The chat so far, as the client would send it.
    """

    url: str
    trace_id: str = "chat-1"
    messages: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, question: str) -> list[list[Event]]:
        """Ask, carry out what the copilot calls, and return the events of each step."""
        self.messages.append({"role": "human", "content": question})
        return self.go_on()

    def go_on(self) -> list[list[Event]]:
        """Send the chat as it is, as `ask` does."""
        steps = [self.post()]
        while calls := named(steps[-1], "copilotFunctionCall"):
            assert len(calls) == 1, "one call ends a step"
            assert steps[-1][-1][0] == "copilotFunctionCall", "the call comes last"
            assert len(steps) < MAX_STEPS, "the copilot drives the client in circles"
            self.carry_out(calls[0])
            steps.append(self.post(is_first=False))
        self.messages.append({"role": "ai", "content": _in_history(steps[-1])})
        return steps

    def carry_out(self, call: Mapping[str, Any]) -> None:
        made, result = self._result_of(call)
        message = {"role": "ai", "content": json.dumps(made)}
        self.messages += [message, {"role": "tool", **made, **result}]

    def post(self, *, is_first: bool = True) -> list[Event]:
        raise NotImplementedError

    def _result_of(self, call: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the call as the history has it, and what is added to it in the result."""
        raise NotImplementedError

    def _stream(self, url: str, body: Mapping[str, Any]) -> bytes:
        with Line(url, body=body, headers={"X-Trace-Id": self.trace_id}) as line:
            stream = line.read_all()
        assert line.status == 200, stream
        assert line.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert line.headers["x-trace-id"] == self.trace_id
        return stream


@dataclass(kw_only=True)
class Workspace(_Chat):
    """A chat in generation 3.

    Attributes:
        functions: What carries out a client function; it returns the `data` of its result.
        request: Everything that each request says besides the messages.
        requests: The bodies that were posted.
        streams: What came back, byte by byte.
        artifacts: Those of the chat, which every request brings along as context.
    """

    path: str
    functions: Mapping[str, Function] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    streams: list[bytes] = field(default_factory=list)
    artifacts: list[Any] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)

    def _result_of(self, call: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        # Source: a pair with an empty extra_state is dropped from the history.
        assert call["extra_state"], "the client would send the same question again"
        data = self.functions[call["function"]](call["input_arguments"])
        made = {"function": call["function"], "input_arguments": call["input_arguments"]}
        return made, {"data": data, "extra_state": call["extra_state"]}

    def post(self, *, is_first: bool = True) -> list[Event]:
        left_out: Collection[str] = () if is_first else self._only_first()
        body = {
            "messages": list(self.messages),
            "widgets": {"primary": [], "secondary": [], "extra": []},
            "tools": [],
            "timezone": "Europe/London",
            **{key: one for key, one in self.request.items() if key not in left_out},
            "context": [*map(_as_context, self.artifacts), *self.request.get("context", [])],
        }
        self.requests.append(body)
        self.streams.append(self._stream(self.url + self.path, body))
        events = events_of(self.streams[-1])
        for name, data in events:
            _MODELS[name].model_validate({"event": name, "data": data})
        check_shown(events, artifacts=self._names)
        self.artifacts += named(events, "copilotMessageArtifact")
        return events

    def _only_first(self) -> Collection[str]:
        options = self.request.get("workspace_options") or {}
        return _ONLY_FIRST if "generative-ui" in options else _ONLY_FIRST | {_STATE}


@dataclass(kw_only=True)
class OlderWorkspace(_Chat):
    """A chat of Terminal Pro as it was, in generation 1 or 2; `url` is from `copilots.json`.

    Attributes:
        widgets: Selected ones, in the shape of generation 2.
        extra: Those that are not on the dashboard; generation 1 has none.
        data: Answers a call for one widget, which is named by its uuid or its id.
    """

    generation: Generation
    widgets: list[dict[str, Any]] = field(default_factory=list)
    extra: list[dict[str, Any]] = field(default_factory=list)
    data: Callable[[str], Any] = str

    def _result_of(self, call: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        made = {key: one for key, one in call.items() if key != "extra_state"}
        arguments = call["input_arguments"]
        if self.generation is Generation.ONE:
            return made, {"data": {"content": self.data(arguments["widget_uuid"])}}
        sources = arguments["data_sources"]
        return made, {"data": [{"content": self.data(source["id"])} for source in sources]}

    def post(self, *, is_first: bool = True) -> list[Event]:
        known = ("uuid", "name", "description", "metadata")
        widgets: Any = {"primary": self.widgets, "secondary": [], "extra": self.extra}
        if self.generation is Generation.ONE:
            widgets = [{key: one[key] for key in known} for one in self.widgets]
        events = events_of(self._stream(self.url, {"messages": self.messages, "widgets": widgets}))
        names = [name for name, _ in events]
        if "copilotFunctionCall" in names:
            assert {*names[:-1]} <= {"copilotStatusUpdate"}, (
                "a step that asks for data has no words"
            )
        return events


def _as_context(artifact: Mapping[str, Any]) -> dict[str, Any]:
    # Source: the front end's conversion of artifacts to context.
    form = {"data_type": "object", "parse_as": artifact["type"]}
    if artifact["type"] == "chart":
        form["chart_params"] = artifact["chart_params"]
    item = {"content": json.dumps(artifact["content"]), "data_format": form}
    known = {key: artifact[key] for key in ("uuid", "name", "description")}
    return {**known, "data": {"items": [item]}}


def _in_history(events: list[Event]) -> str:
    """Return the text of an answer, with marks where its artifacts stood."""
    said = ""
    for name, data in events:
        if name == "copilotMessageArtifact":
            said += f"<|start_artifact_id|>{data['name']}<|end_artifact_id|>"
        elif name == "copilotMessageChunk":
            said += data["delta"]
    return said


def text_of(events: list[Event]) -> str:
    return "".join(data["delta"] for name, data in events if name == "copilotMessageChunk")


def named(events: list[Event], name: str) -> list[Any]:
    """Return the data of all events of one kind."""
    return [data for kind, data in events if kind == name]
