"""Terminal Pro as it was: somebody who asks in generation 1 or 2 of the protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import json
from typing import Any

from protocol.models import Generation
from tests.wire import Line
from tests.workspace.client import Event, named, text_of
from tests.workspace.stream import events_of

MAX_STEPS = 8


@dataclass(kw_only=True)
class OlderWorkspace:
    """A chat with one copilot.

    Attributes:
        query_url: As `copilots.json` gives it.
        widgets: Selected ones, in the shape of generation 2.
        extra: Those that are not on the dashboard; generation 1 has none.
        data: Answers a call for one widget, which is named by its uuid or its id.
    """

    query_url: str
    generation: Generation
    widgets: list[dict[str, Any]] = field(default_factory=list)
    extra: list[dict[str, Any]] = field(default_factory=list)
    data: Callable[[str], Any] = str
    messages: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, question: str) -> list[list[Event]]:
        """Asks, carries out what the copilot calls, and returns the events of each leg."""
        self.messages.append({"role": "human", "content": question})
        legs = [self._post()]
        while calls := named(legs[-1], "copilotFunctionCall"):
            *before, last = [name for name, _ in legs[-1]]
            assert last == "copilotFunctionCall", "the call comes last"
            assert set(before) <= {"copilotStatusUpdate"}, "a leg that asks for data has no words"
            assert len(legs) < MAX_STEPS, "the copilot drives the client in circles"
            self._carry_out(calls[0])
            legs.append(self._post())
        self.messages.append({"role": "ai", "content": text_of(legs[-1])})
        return legs

    def _carry_out(self, call: Mapping[str, Any]) -> None:
        made = {key: one for key, one in call.items() if key != "extra_state"}
        result: dict[str, Any] = {"role": "tool", **made}
        arguments = call["input_arguments"]
        if self.generation is Generation.ONE:
            result["data"] = {"content": self.data(arguments["widget_uuid"])}
        else:
            result["data"] = [
                {"content": self.data(source["id"])} for source in arguments["data_sources"]
            ]
        self.messages += [{"role": "ai", "content": json.dumps(made)}, result]

    def _post(self) -> list[Event]:
        body = {"messages": self.messages, "widgets": self._offered()}
        with Line(self.query_url, body=body, headers={"X-Trace-Id": "chat-1"}) as line:
            stream = line.read_all()
        assert line.status == 200, stream
        return events_of(stream)

    def _offered(self) -> Any:
        if self.generation is Generation.TWO:
            return {"primary": self.widgets, "secondary": [], "extra": self.extra}
        known = ("uuid", "name", "description", "metadata")
        return [{key: one[key] for key in known} for one in self.widgets]
