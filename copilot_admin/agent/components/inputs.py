"""Inputs of components that this server provides in addition to those of the contract."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from copilot_admin.agent.documents.document import Document
from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.values.model_call import (
    ModelCall,
    ModelMessage,
    ModelProvider,
    ModelRole,
    TextDelta,
    Usage,
)
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.agent.values.tracing import NULL_TRACER, Tracer
from protocol.json import Json

MODEL = "_sys_model"  # a `ModelClient`
DOCUMENTS = "_sys_documents"  # a sequence of `SourceDocument`


class DocumentOrigin(StrEnum):
    """Origin of a document of a request."""

    FILE = "file"
    WIDGET = "widget"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A file or the data of a widget, as text.

    Attributes:
        parts: Pairs of a label, such as "page 3" or nothing, and a text.
    """

    name: str
    origin: DocumentOrigin
    parts: tuple[tuple[str, str], ...]


@dataclass(slots=True, kw_only=True)
class ModelClient:
    """The copilot's model, for use by a component.

    Attributes:
        usage: Tokens of the answers so far: prompt_tokens, completion_tokens, total_tokens, name.
            Empty before the first answer has ended.
    """

    provider: ModelProvider
    model: str
    timeouts: Timeouts
    parameters: Mapping[str, Json]
    tracer: Tracer = NULL_TRACER
    user: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict, init=False)

    async def ask(
        self, prompt: str, *, temperature: float | None = None, top_p: float | None = None
    ) -> AsyncGenerator[str, None]:
        """Stream only the text of the model's answer to a prompt.

        Temperature and top_p replace those of the copilot.

        Raises:
            RunError: The call of the model failed.
        """
        chosen = {"temperature": temperature, "top_p": top_p}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        call = ModelCall(
            model=self.model,
            messages=(ModelMessage(role=ModelRole.USER, text=prompt),),
            parameters={**self.parameters, **chosen},
            user=self.user,
        )
        stream = stream_model(self.provider, call, timeouts=self.timeouts, tracer=self.tracer)
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    yield delta.text
                elif isinstance(delta, Usage):
                    self._count(delta.input_tokens, delta.output_tokens)

    def _count(self, prompt: int, completion: int) -> None:
        counts = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        sums = {key: self.usage.get(key, 0) + count for key, count in counts.items()}
        self.usage = {**sums, "name": self.model}


def from_server(name: str, *, at: datetime, uid: str, trace_id: str) -> dict[str, Any]:
    """Return the inputs of a call of a component that only the server knows.

    Callers can't set them. `uid` is the caller, `trace_id` that of the chat or the request.
    """
    return {
        "_sys_name": name,
        "_sys_current_time": at.isoformat(),
        "_sys_uid": uid,
        "_sys_traceid": trace_id,
        "_sys_used_tool": [],
    }


def source_document(document: Document, *, name: str = "") -> SourceDocument:
    """Return a document that was read, under its own or another name."""
    alone = len(document.pages) == 1
    parts = tuple(
        (page.name or ("" if alone else f"page {page.number}"), page.text)
        for page in document.pages
    )
    return SourceDocument(name or document.name, DocumentOrigin.FILE, parts)


def documents_in(inputs: Mapping[str, Any]) -> Sequence[SourceDocument]:
    """Return the documents of the request; empty if the system passed no documents."""
    found: Sequence[SourceDocument] = inputs.get(DOCUMENTS, ())
    return found


def model_in(inputs: Mapping[str, Any]) -> ModelClient:
    """Return the copilot's model.

    Raises:
        ValueError: The component is called without a copilot, so there is no model.
    """
    client = inputs.get(MODEL)
    if not isinstance(client, ModelClient):
        raise ValueError(
            "There is no model to ask. Call the component through a copilot that has it."
        )
    return client
