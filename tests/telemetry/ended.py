"""Runs that have ended, as those who watch are told of them."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelMessage,
    ModelRole,
    ToolCall,
    Usage,
)
from copilot_admin.agent.values.tracing import ModelCallTrace, ToolTrace
from copilot_admin.models import CostConfidence, Outcome
from copilot_admin.telemetry.finished_runs import ClientCall, FinishedRun, RunTimes

RUN = UUID("0b5e2a8c-9f3e-4d7a-8c21-5d6e7f8091a2")
SECOND = 1_000_000_000
TABLE = ToolCall(id="call-1", name="table", arguments='{"name": "Prices"}')
QUESTION = (
    ModelMessage(role=ModelRole.SYSTEM, text="Be brief."),
    ModelMessage(role=ModelRole.USER, text="What moved?"),
)


def asked(*, began: int = 1, ended: int = 3, **changes: Any) -> ModelCallTrace:
    """A model that was asked; the times are in seconds."""
    fields: dict[str, Any] = {
        "call": ModelCall(model="small", messages=QUESTION, parameters={"temperature": 0.5}),
        "began": began * SECOND,
        "first": None if changes.get("failed") else (began + 1) * SECOND,
        "ended": ended * SECOND,
        **changes,
    }
    return ModelCallTrace(**fields)


def ran(*, began: int = 3, ended: int = 6, **changes: Any) -> ToolTrace:
    """A tool that ran; the times are in seconds."""
    fields = {"call": TABLE, "began": began * SECOND, "ended": ended * SECOND, **changes}
    return ToolTrace(**fields)


def ended_run(**changes: Any) -> FinishedRun:
    """A question that somebody with a key asked, and that was answered."""
    fields: dict[str, Any] = {
        "run_id": RUN,
        "trace_id": "chat-1",
        "chat_id": "chat-1",
        "copilot": "news",
        "version": 5,
        "caller": "key:7",
        "generation": 3,
        "outcome": Outcome.COMPLETED,
        "started_at": datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
        "ms": 9000,
        "first_ms": 1500,
        "cost": Decimal("0.0123"),
        "cost_confidence": CostConfidence.EXACT,
        "provider": "local",
        "provider_kind": "openai_compatible",
        "model": "small",
        "usage": Usage(input_tokens=120, cached_tokens=20, output_tokens=30, reasoning_tokens=5),
        "times": RunTimes(
            received=0, admitted=SECOND, stored=2 * SECOND, finishing=9 * SECOND, ended=10 * SECOND
        ),
        "keeps_content": True,
        **changes,
    }
    return FinishedRun(**fields)


def client_call(**changes: Any) -> ClientCall:
    """Widget data that the client is asked for, eight seconds after the request."""
    fields: dict[str, Any] = {
        "function": "get_widget_data",
        "arguments": {"data_sources": ["secret"]},
        "at": 8 * SECOND,
        **changes,
    }
    return ClientCall(**fields)
