"""The tools of a model that the client carries out: widget data and the client functions."""

from collections.abc import Collection, Iterable, Sequence

from copilot_admin.agent.client.client_state import client_call_event
from copilot_admin.agent.client.limits import CallLimitMessages, check_count, check_size
from copilot_admin.agent.client.widget_data import DataPlan, data_call_event
from copilot_admin.agent.client.widgets import (
    DATA_TOOL,
    DataRequest,
    WidgetLookup,
    data_tool,
    plan_data_call,
    read_data_requests,
)
from copilot_admin.agent.client_functions.base import ToolDefinition, ToolScope
from copilot_admin.agent.client_functions.registry import (
    define_tools,
    function_named,
    names_in_history,
)
from copilot_admin.agent.tools.tool_arguments import Mistakes, ToolMistake, check_for_client
from copilot_admin.agent.values.answer_request import AnswerRequest, ToolExchange
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.events import FunctionCall
from protocol.models import Query

BESIDE_A_WRONG_CALL = "Not asked for, since another call was wrong. Ask for all of them again."


class ClientTools:
    """What the model may ask of the client in one leg, and what it is told when it may not.

    Args:
        ask: Whose copilot asks.
        query: With what is known from earlier legs filled in.
        plan: What of widget data may be asked for.
        taken: Names that other tools have.
        mistakes: Where a wrong call is counted.

    Attributes:
        names_in_history: What the model calls the tools of earlier calls.
    """

    def __init__(
        self,
        request: AnswerRequest,
        *,
        query: Query,
        plan: DataPlan,
        taken: Iterable[str],
        mistakes: Mistakes,
    ) -> None:
        self._request = request
        self._query = query
        self._plan = plan
        self._mistakes = mistakes
        self._data_offered = bool(plan.offered)
        scope = ToolScope(spec=request.spec, query=query, widgets=plan.offered)
        taken = {DATA_TOOL.name, *taken}
        self._tools = define_tools(scope, taken=taken)
        self.names_in_history = names_in_history(query, tools=self._tools, taken=taken)
        self._answers: dict[str, str] = {}  # what the model is told of a call, by its id
        self._refused: list[str] = []  # what the user is told of this round

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is offered."""
        data = (data_tool(self._query.generation),) if self._data_offered else ()
        listed = (tool.schema for tool in self._tools.values() if not tool.unlisted)
        return (*data, *listed)

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the model calls them."""
        return tuple(schema.name for schema in self.schemas)

    @property
    def may_be_called(self) -> bool:
        return (self._data_offered and not self._plan.refusal) or any(
            tool.arguments is not None and not self._refusal_of(tool)
            for tool in self._tools.values()
        )

    def withdraw(self) -> None:
        """Withdraw all client functions for the rest of the step."""
        self._data_offered, self._tools = False, {}

    def call_for(
        self, calls: Sequence[ToolCall], *, exchanges: Sequence[ToolExchange]
    ) -> FunctionCall | None:
        """The function call that the client shall carry out, if one of the calls is right.

        One call ends the leg: widget data first, then whatever the model named first; the next
        leg takes up the others. `told` has what the model is told of a call that cannot be made.

        Args:
            calls: Of the model, in one answer.
            exchanges: What server tools gave in this leg, which travels with the call.
        """
        data_calls = [call for call in calls if self._data_offered and call.name == DATA_TOOL.name]
        event = self._data_call(data_calls, _others(calls, data_calls), exchanges)
        for call in calls:
            tool = self._tools.get(call.name)
            if event is None and tool is not None:
                event = self._function_call(tool, call, _others(calls, [call]), exchanges)
        return event

    def told(self, call: ToolCall) -> str | None:
        """What the model is told of a call that the client does not carry out; None: nothing yet.

        Raises:
            ToolMistake: A tool that is answered here was called wrongly.
        """
        if call.id in self._answers:
            return self._answers[call.id]
        tool = self._tools.get(call.name)
        return tool.answer(call) if tool is not None and tool.answer is not None else None

    def end_round(self) -> Sequence[str]:
        """What the user is told when the client was to be asked once too often; else nothing.

        A function that may not be called again is not offered any more.
        """
        refused, self._refused, self._answers = self._refused, [], {}
        if refused:
            self._data_offered = self._data_offered and not self._plan.refusal
            self._tools = {
                name: tool for name, tool in self._tools.items() if not self._refusal_of(tool)
            }
        return refused

    def _data_call(
        self,
        calls: Sequence[ToolCall],
        waiting: Sequence[ToolCall],
        exchanges: Sequence[ToolExchange],
    ) -> FunctionCall | None:
        if not calls or self._refuse(calls, self._plan.refusal):
            return None
        wishes = self._wishes(calls)
        if not wishes:
            return None
        try:
            wanted, later = plan_data_call(wishes, plan=self._plan, query=self._query)
        except ToolMistake as mistake:
            self._answers |= dict.fromkeys(_ids(calls), self._mistakes.learn(mistake))
            return None
        return data_call_event(
            wanted,
            request=self._request,
            query=self._query,
            exchanges=exchanges,
            waiting=(*later, *waiting),
            extras=next((call.extras for call in calls if call.extras), None),
        )

    def _wishes(self, calls: Sequence[ToolCall]) -> Sequence[DataRequest]:
        wishes: list[DataRequest] = []
        widgets = WidgetLookup(self._query)
        wrong: dict[str, str] = {}
        for call in calls:
            try:
                check_for_client(call)
                wishes += read_data_requests(call, widgets=widgets)
                check_count(len(wishes))
            except ToolMistake as mistake:
                wrong[call.id] = self._mistakes.learn(mistake)
        if wrong:
            self._answers |= {**dict.fromkeys(_ids(calls), BESIDE_A_WRONG_CALL), **wrong}
        return () if wrong else wishes

    def _function_call(
        self,
        tool: ToolDefinition,
        call: ToolCall,
        waiting: Sequence[ToolCall],
        exchanges: Sequence[ToolExchange],
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
            remembered=arguments,
            request=self._request,
            query=self._query,
            exchanges=exchanges,
            waiting=waiting,
            extras=call.extras,
            state=tool.state(call),
        )

    def _refusal_of(self, tool: ToolDefinition) -> str:
        function = function_named(tool.function)
        messages = function.limit_messages if function else CallLimitMessages()
        return self._plan.budget.refusal(tool.function, messages)

    def _refuse(self, calls: Sequence[ToolCall], refusal: str) -> bool:
        if refusal:
            answer = f"{refusal} Answer with what you have."
            self._answers |= dict.fromkeys(_ids(calls), answer)
            self._refused += [] if refusal in self._refused else [refusal]
        return bool(refusal)


def _others(calls: Sequence[ToolCall], made: Collection[ToolCall]) -> Sequence[ToolCall]:
    return [call for call in calls if call not in made]


def _ids(calls: Iterable[ToolCall]) -> Iterable[str]:
    return [call.id for call in calls]
