"""What the system passes to a component that a model calls: the question, its documents, a model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.components.inputs import (
    DOCUMENTS,
    MODEL,
    DocumentOrigin,
    ModelDoor,
    SourceDocument,
    from_server,
    source_document,
)
from copilot_admin.agent.files.contents import FileItem, UnreadItem
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.prompt.data_text import item_text
from copilot_admin.agent.values.engine_input import EngineInput
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
    engine_input: EngineInput, query: Query, *, model: str, pace: Pace
) -> Callable[[str, Sequence[str]], Mapping[str, Any]]:
    """Makes the inputs of calls in one leg; what costs is made once, and only when it is needed.

    Args:
        engine_input: Whose copilot calls.
        query: With its files read.
        model: Of the copilot.
        pace: Of retries.

    Returns:
        A function of a component's name and the names of the tools used so far.
    """
    made: dict[str, Any] = {}

    def inputs(name: str, used: Sequence[str]) -> Mapping[str, Any]:
        if not made:
            made.update(_shared(engine_input, query))
        door = ModelDoor(
            engine_input.provider,
            model=model,
            timeouts=engine_input.spec.provider.timeouts,
            parameters=engine_input.spec.parameters,
            pace=pace,
            witness=engine_input.witness,
            user=engine_input.told_user,
        )
        server = from_server(
            name, at=engine_input.now, uid=engine_input.principal, trace_id=engine_input.trace_id
        )
        return {**made, **server, "_sys_used_tool": list(used), MODEL: door}

    return inputs


def documents_of(query: Query) -> tuple[SourceDocument, ...]:
    """The files, the data of widgets and the context items of a query, as text."""
    return (*_context(query), *_results(query))


def _shared(engine_input: EngineInput, query: Query) -> Mapping[str, Any]:
    documents = documents_of(query)
    links = dict(_links(engine_input.query))
    return {
        "_sys_origin_query": query.question.text if query.question else "",
        "_sys_chat_history": _history(query),
        "_sys_conversation_id": engine_input.trace_id,
        "_sys_end_user_id": engine_input.user_id,
        "_sys_custom_variables": dict(query.workspace_options),
        "_sys_file_names": [one.name for one in documents if one.origin is DocumentOrigin.FILE],
        "_sys_file_urls": links,
        "_sys_uploaded_files": [
            {"filename": name, "url": url, "file_id": ""} for name, url in links.items()
        ],
        "model_configs": {
            name: engine_input.spec.parameters[name]
            for name in ("temperature", "top_p")
            if name in engine_input.spec.parameters
        },
        DOCUMENTS: documents,
    }


def _links(query: Query) -> Iterator[tuple[str, str]]:
    results = (one for one in query.messages if isinstance(one, ResultMessage))
    sources = [item.data for item in query.context]
    sources += [data for one in results for data in one.data if isinstance(data, SourceData)]
    for source in sources:
        for item in source.items:
            if isinstance(item, FileReference):
                yield str(item.data_format.get("filename") or item.url), item.url


def _history(query: Query) -> list[JsonObject]:
    """What was said before the question, strictly in turns: components may rely on that.

    What one side said in several messages is one.
    """
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


def _context(query: Query) -> Iterator[SourceDocument]:
    for item in query.context:
        name = item.name or item.uuid or "context"
        yield from _documents(item.data, name=name, origin=DocumentOrigin.CONTEXT)


def _results(query: Query) -> Iterator[SourceDocument]:
    for message in query.messages:
        if not isinstance(message, ResultMessage):
            continue
        for fetched in fetched_by(message, widgets=query.widgets):
            if isinstance(fetched.result, SourceData):
                source = fetched.source
                named = source.id or source.widget_uuid or "widget"
                name = name_of(fetched.widget) if fetched.widget else named
                yield from _documents(fetched.result, name=name, origin=DocumentOrigin.WIDGET)


def _documents(data: SourceData, *, name: str, origin: DocumentOrigin) -> Iterator[SourceDocument]:
    for item in data.items:
        if isinstance(item, FileItem):
            filename = str(item.data_format.get("filename") or name)
            yield source_document(item.document, name=filename)
        elif isinstance(item, DataItem) and not isinstance(item, UnreadItem):
            # What was not read, or is only linked, has no text to search.
            yield SourceDocument(name, origin, (("", item_text(item)),))
