"""Inputs of components that this server provides in addition to those of the contract."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.documents.document import Document
from copilot_admin.agent.files.reading import FileItem
from copilot_admin.agent.llm.model_stream import stream_model
from copilot_admin.agent.prompt.truncation import item_text
from copilot_admin.agent.values.answer_request import AnswerRequest
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
from copilot_admin.agent.values.turn import fetched_by
from protocol.json import Json, JsonObject
from protocol.models import (
    AiMessage,
    DataItem,
    FileReference,
    HumanMessage,
    Query,
    ResultMessage,
    SourceData,
)

MODEL = "_sys_model"  # a `ModelClient`
DOCUMENTS = "_sys_documents"  # a sequence of `SourceDocument`


class DocumentOrigin(StrEnum):
    FILE = "file"
    WIDGET = "widget"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A file or the data of a widget, as text."""

    name: str
    origin: DocumentOrigin
    parts: tuple[tuple[str, str], ...]  # of a label, such as "page 3" or nothing, and a text


@dataclass(slots=True, kw_only=True)
class ModelClient:
    """The copilot's model, for use by a component."""

    provider: ModelProvider
    model: str
    timeouts: Timeouts
    parameters: Mapping[str, Json]
    tracer: Tracer = NULL_TRACER
    user: str = ""
    # Tokens of the answers that have ended: prompt_tokens, completion_tokens, total_tokens, name.
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
                    self._add_usage(delta.input_tokens, delta.output_tokens)

    def _add_usage(self, prompt: int, completion: int) -> None:
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


def system_inputs(
    request: AnswerRequest, query: Query, *, model: str
) -> Callable[[str, Sequence[str]], Mapping[str, Any]]:
    """Return a function that makes the inputs of a call; `query` has its files read.

    Its arguments are the name of the component and the names of the tools used so far. Inputs that
    all calls share are built for the first call.
    """

    @cache
    def shared() -> Mapping[str, Any]:
        return _shared_inputs(request, query)

    def make(name: str, used: Sequence[str]) -> Mapping[str, Any]:
        client = ModelClient(
            provider=request.provider,
            model=model,
            timeouts=request.spec.provider.timeouts,
            parameters=request.spec.parameters,
            tracer=request.tracer,
            user=request.upstream_user,
        )
        server = from_server(name, at=request.now, uid=request.principal, trace_id=request.trace_id)
        return {**shared(), **server, "_sys_used_tool": list(used), MODEL: client}

    return make


def _shared_inputs(request: AnswerRequest, query: Query) -> Mapping[str, Any]:
    documents = tuple(_documents_of(query))
    links = dict(_links(request.query))
    parameters = request.spec.parameters
    return {
        "_sys_origin_query": query.question.text if query.question else "",
        "_sys_chat_history": _history(query),
        "_sys_conversation_id": request.trace_id,
        "_sys_end_user_id": request.user_id,
        "_sys_custom_variables": dict(query.workspace_options),
        "_sys_file_names": [one.name for one in documents if one.origin is DocumentOrigin.FILE],
        "_sys_file_urls": links,
        "_sys_uploaded_files": [
            {"filename": name, "url": url, "file_id": ""} for name, url in links.items()
        ],
        "model_configs": {
            name: parameters[name] for name in ("temperature", "top_p") if name in parameters
        },
        DOCUMENTS: documents,
    }


def _links(query: Query) -> Iterator[tuple[str, str]]:
    results = (one for one in query.messages if isinstance(one, ResultMessage))
    sources = [item.data for item in query.context]
    sources += [data for one in results for data in one.data if isinstance(data, SourceData)]
    for item in (item for source in sources for item in source.items):
        if isinstance(item, FileReference):
            yield str(item.data_format.get("filename") or item.url), item.url


def _history(query: Query) -> list[JsonObject]:
    """Return the messages before the question, joined so that the speakers alternate."""
    turns: list[tuple[str, list[str]]] = []
    for message in query.messages:
        if message is query.question:
            break
        if isinstance(message, HumanMessage | AiMessage):
            role = "user" if isinstance(message, HumanMessage) else "assistant"
            if not turns or turns[-1][0] != role:
                turns.append((role, []))
            turns[-1][1].append(message.text)
    return [{"role": role, "content": "\n\n".join(texts)} for role, texts in turns]


def _documents_of(query: Query) -> Iterator[SourceDocument]:
    """Yield the context items, files and data of widgets of a query, as text."""
    for item in query.context:
        name = item.name or item.uuid or "context"
        yield from _documents(item.data, name=name, origin=DocumentOrigin.CONTEXT)
    for message in query.messages:
        if isinstance(message, ResultMessage):
            for fetched in fetched_by(message, widgets=query.widgets):
                source = fetched.source
                name = source.id or source.widget_uuid or "widget"
                name = name_of(fetched.widget) if fetched.widget else name
                if isinstance(fetched.result, SourceData):
                    yield from _documents(fetched.result, name=name, origin=DocumentOrigin.WIDGET)


def _documents(data: SourceData, *, name: str, origin: DocumentOrigin) -> Iterator[SourceDocument]:
    for item in data.items:
        found = item.found if isinstance(item, FileItem) else None
        if isinstance(found, Document):
            filename = str(item.data_format.get("filename") or name)
            yield source_document(found, name=filename)
        elif isinstance(item, DataItem) and not isinstance(found, str):
            # Unread or only linked content has no text to search.
            yield SourceDocument(name, origin, (("", item_text(item)),))
