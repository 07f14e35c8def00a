"""Answers of the playground and their figures."""

from dataclasses import dataclass
from decimal import Decimal

from copilot_admin.admin.transcripts.page import AttemptFacts
from copilot_admin.agent.values.model_call import ModelCall, ModelMessage, ToolCall, ToolSchema
from copilot_admin.models import CostConfidence
from protocol.json import JsonObject
from protocol.sse import encode

EVENT = "playgroundModelCall"


def told_event(call: ModelCall) -> bytes:
    """A request to a model as a server-sent event: messages, tools with their schemas, parameters."""
    return encode(
        EVENT,
        {
            "model": call.model,
            "messages": [_message(message) for message in call.messages],
            "tools": [_tool(tool) for tool in call.tools],
            "parameters": dict(call.parameters),
        },
    )


def _message(message: ModelMessage) -> JsonObject:
    return {
        "role": message.role.value,
        "text": message.text,
        **({"tool_call_id": message.tool_call_id} if message.tool_call_id else {}),
        **(
            {"tool_calls": [_call(one) for one in message.tool_calls]} if message.tool_calls else {}
        ),
        **({"images": [one.name for one in message.images]} if message.images else {}),
    }


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def _tool(tool: ToolSchema) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFigures:
    """Over all requests of an answer; what the simulation or a person took is no part of it.

    Attributes:
        version: Number of the version that answered; None: a draft.
        ttft_ms: From its last request to the first token; None: there came none.
        ms: None: it is not over.
        is_counted: Whether anybody counted the tokens.
        cost: As far as it is known, in US dollars; of `n_unpriced` requests it is not.
        cost_is_estimated: Whether a part of it is.
    """

    model: str
    version: int | None
    requests: int
    ttft_ms: int | None
    ms: int | None
    input_tokens: int
    output_tokens: int
    is_counted: bool
    cost: Decimal
    n_unpriced: int
    cost_is_estimated: bool


def figures_of(answer: AttemptFacts) -> AnswerFigures:
    """The figures of an answer."""
    runs = [leg.run for leg in answer.legs]
    last = answer.last
    return AnswerFigures(
        model=last.row.model,
        version=last.version,
        requests=len(runs),
        ttft_ms=last.row.ttft_ms,
        ms=None if last.row.ms is None else sum(run.row.ms or 0 for run in runs),
        input_tokens=sum(run.row.input_tokens for run in runs),
        output_tokens=sum(run.row.output_tokens for run in runs),
        is_counted=any(run.row.usage_source for run in runs),
        cost=sum((run.row.cost or Decimal() for run in runs), Decimal()),
        n_unpriced=sum(run.row.cost is None for run in runs),
        cost_is_estimated=any(run.row.cost_confidence == CostConfidence.ESTIMATED for run in runs),
    )
