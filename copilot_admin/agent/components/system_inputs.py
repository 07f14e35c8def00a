"""System inputs of a component that a model calls: the question, its documents, the model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.components.inputs import (
    DOCUMENTS,
    MODEL,
    DocumentOrigin,
    ModelClient,
    SourceDocument,
    from_server,
    source_document,
)
from copilot_admin.agent.files.contents import FileItem, UnreadItem
from copilot_admin.agent.prompt.truncation import item_text
from copilot_admin.agent.values.answer_request import AnswerRequest
from copilot_admin.agent.values.turn import fetched_by
from protocol.json import JsonObject
from protocol.models import (
    AiMessage,
    DataItem,
    FileReference,
    HumanMessage,
    Query,
    ResultMessage,
    SourceData,
)


def system_inputs(
    request: AnswerRequest, query: Query, *, model: str
) -> Callable[[str, Sequence[str]], Mapping[str, Any]]:
    """Return a function that makes the inputs of a call.

    Its arguments are the name of the component and the names of the tools used so far. Inputs that
    all calls share are built for the first call.

    Args:
        request: Of the copilot that calls.
        query: With its files read.
        model: Of the copilot.
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
        if isinstance(item, FileItem):
            filename = str(item.data_format.get("filename") or name)
            yield source_document(item.document, name=filename)
        elif isinstance(item, DataItem) and not isinstance(item, UnreadItem):
            # Unread or only linked content has no text to search.
            yield SourceDocument(name, origin, (("", item_text(item)),))
