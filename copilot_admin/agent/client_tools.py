"""Tools that the client carries out for a model: widget data and the client functions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from copilot_admin.agent.client.client_state import client_call_event
from copilot_admin.agent.client.limits import check_size
from copilot_admin.agent.client.widget_data import DataPlan, data_call_event
from copilot_admin.agent.client.widgets import (
    DATA_TOOL,
    DataRequest,
    WidgetLookup,
    plan_data_call,
    read_data_requests,
)
from copilot_admin.agent.client_functions.base import ToolDefinition, ToolScope
from copilot_admin.agent.client_functions.registry import (
    define_tools,
    function_named,
    names_in_history,
)
from copilot_admin.agent.tools.tool import Mistakes, ToolMistake, check_for_client
from copilot_admin.agent.values.answer_request import AnswerRequest, Memory, ToolExchange
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.events import FunctionCall

_DATA = ToolDefinition(schema=DATA_TOOL, function=DATA_TOOL.name)
NOT_CALLED = "Not asked for, since another call was wrong. Ask for all of them again."


class ClientTools:
    """Client functions that the model may call in one step; `taken` are names of other tools."""

    def __init__(
        self,
        request: AnswerRequest,
        *,
        plan: DataPlan,
        taken: Iterable[str],
        mistakes: Mistakes,
    ) -> None:
        self._request = request
        self._plan = plan
        self._mistakes = mistakes
        query = request.query
        scope = ToolScope(spec=request.spec, query=query, widgets=plan.offered)
        taken = {DATA_TOOL.name, *taken}
        data_tools = {DATA_TOOL.name: _DATA} if plan.offered else {}
        self._tools = {**data_tools, **define_tools(scope, taken=taken)}
        self.names_in_history = names_in_history(query, tools=self._tools, taken=taken)
        self._answers: dict[str, str] = {}  # by call id
        self._refused: list[str] = []  # sentences for the user

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(tool.schema for tool in self._tools.values())

    @property
    def may_be_called(self) -> bool:
        tools = (tool for tool in self._tools.values() if tool.answer is None)
        return any(not self._refusal_of(tool) for tool in tools)

    def withdraw(self) -> None:
        self._tools = {}

    def call_for(
        self, calls: Sequence[ToolCall], *, exchanges: Sequence[ToolExchange]
    ) -> FunctionCall | None:
        """Return the function call for the client, if one of the model's calls is valid.

        One call ends the step: widget data first, then the model's first call. The next step
        continues with the others. `answer_for` has the answers to calls that can't be made.
        `exchanges` are results of server tools in this step, which are sent with the call.
        """
        data_calls = [call for call in calls if self._tools.get(call.name) is _DATA]
        waiting = tuple(call for call in calls if call not in data_calls)
        memory = Memory(exchanges=tuple(exchanges), waiting=waiting)
        event = self._data_call(data_calls, memory)
        for call in calls:
            tool = self._tools.get(call.name)
            if event is None and tool is not None:
                waiting = tuple(other for other in calls if other != call)
                memory = replace(memory, waiting=waiting, extras=call.extras)
                event = self._function_call(tool, call, memory)
        return event

    def answer_for(self, call: ToolCall) -> str | None:
        """Return the answer to a call that needs no client call; raise `ToolMistake` if it is wrong."""
        if call.id in self._answers:
            return self._answers[call.id]
        tool = self._tools.get(call.name)
        return tool.answer(call) if tool is not None and tool.answer is not None else None

    def end_round(self) -> Sequence[str]:
        """Return sentences for the user about call limits that this round reached.

        A function that may not be called again is no longer offered.
        """
        refused, self._refused, self._answers = self._refused, [], {}
        if refused:
            self._tools = {
                name: tool for name, tool in self._tools.items() if not self._refusal_of(tool)
            }
        return refused

    def _data_call(self, calls: Sequence[ToolCall], memory: Memory) -> FunctionCall | None:
        if not calls or self._refuse(calls, self._plan.refusal):
            return None
        requests: list[DataRequest] = []
        widgets = WidgetLookup(self._request.query)
        wrong: dict[str, str] = {}
        for call in calls:
            try:
                check_for_client(call)
                requests += read_data_requests(call, widgets=widgets)
            except ToolMistake as mistake:
                wrong[call.id] = self._mistakes.learn(mistake)
        if wrong or not requests:
            self._answers |= {call.id: NOT_CALLED for call in calls if wrong} | wrong
            return None
        try:
            data_call, later = plan_data_call(requests, plan=self._plan, query=self._request.query)
        except ToolMistake as mistake:
            self._answers |= dict.fromkeys(
                (call.id for call in calls), self._mistakes.learn(mistake)
            )
            return None
        extras = next((call.extras for call in calls if call.extras), None)
        memory = replace(memory, waiting=(*later, *memory.waiting), extras=extras)
        return data_call_event(data_call, request=self._request, memory=memory)

    def _function_call(
        self, tool: ToolDefinition, call: ToolCall, memory: Memory
    ) -> FunctionCall | None:
        if tool.arguments is None or self._refuse([call], self._refusal_of(tool)):
            return None  # the first is answered here
        try:
            check_for_client(call)
            arguments = tool.arguments(call)
            check_size(call.name, arguments)
        except ToolMistake as mistake:
            self._answers[call.id] = self._mistakes.learn(mistake)
            return None
        return client_call_event(
            tool.function,
            arguments,
            request=self._request,
            memory=memory,
            state=tool.state(call),
        )

    def _refusal_of(self, tool: ToolDefinition) -> str:
        function = function_named(tool.function)
        label = (function and function.label) or tool.function
        return self._plan.budget.refusal(tool.function, label=label)

    def _refuse(self, calls: Sequence[ToolCall], refusal: str) -> bool:
        if refusal:
            answer = f"{refusal} Answer with what you have."
            self._answers |= {call.id: answer for call in calls}
            self._refused += [] if refusal in self._refused else [refusal]
        return bool(refusal)
