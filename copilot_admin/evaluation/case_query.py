"""A test case sent to a copilot, in as many requests as its answer needs, by a simulated Workspace.

The runs have the caller of the playground, so that no list and no metric includes them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
import json
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.translation import gettext as _

from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.copilots.test_cases import FileEntry, TestCaseEntry, WidgetEntry
from copilot_admin.errors import TooManyRequests, Unavailable
from copilot_admin.evaluation.assertions import CaseAnswer
from copilot_admin.ids import new_ids
from copilot_admin.models import CostConfidence, Event, EventType, Logging, Outcome, Run
from copilot_admin.pricing.cost import Cost, sum_costs
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.storage.blobs import load
from copilot_admin.storage.writer import READER
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.json import Json, JsonObject
from protocol.parsing import UnusableQuery, parse_query
from protocol.sse import Decoder, EventTooLarge, encode_json

MAX_REQUESTS = 16  # of one test case, as in the playground
TIMEOUT_SECONDS = 300.0  # for all of them; a long answer of a slow model needs about two minutes
ANSWERED = (Outcome.COMPLETED, Outcome.TRUNCATED)
UPLOADS = "OpenBB Hub"  # the origin of files, for Workspace
DONE: JsonObject = {"status": "success", "message": "Done"}  # of a function that returns no data


@dataclass(slots=True)
class _Chat:
    live: LiveCopilot
    caller: Caller
    entry: TestCaseEntry
    origin: int | None = None
    trace_id: str = field(default_factory=lambda: uuid4().hex)
    runs: list[UUID] = field(default_factory=list)
    text: str = ""
    cited: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)


async def query_case(
    live: LiveCopilot, caller: Caller, entry: TestCaseEntry, *, origin: int | None = None
) -> CaseAnswer:
    """Query a copilot until it has answered; the test data provides the results of client calls.

    Raises:
        Unavailable: The server stops, or the database can't store runs at the moment.
    """
    chat = _Chat(replace(live, logging=Logging.EVERYTHING), caller, entry, origin)
    error = ""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            error = await _send_requests(chat)
    except TimeoutError:
        error = _("No complete answer after %d seconds.") % TIMEOUT_SECONDS
    except (UnusableQuery, TooManyRequests) as problem:
        error = problem.public
    except EventTooLarge:
        error = _("The answer is too large.")
    return await READER.run(partial(_read_answer, chat, error))


async def _send_requests(chat: _Chat) -> str:
    """Return the error, if any."""
    messages = first_messages(chat.entry)
    for _number in range(MAX_REQUESTS):
        call = await _send_request(chat, messages)
        if call is None:
            return ""
        # In a thread: test data of 4 MB would block every other answer.
        messages += await asyncio.to_thread(result_messages, chat.entry, call)
    return _("The copilot called functions %d times without an answer.") % MAX_REQUESTS


async def _send_request(chat: _Chat, messages: Sequence[JsonObject]) -> Mapping[str, Any] | None:
    """Read one response; return the client call that it ends with, if any."""
    run = await open_run(await asyncio.to_thread(_admit, chat, messages))
    chat.runs.append(run.id)
    decoder, call = Decoder(), None
    async with aclosing(frames(run)) as pieces:
        async for piece in pieces:
            for name, data in decoder.feed(piece):
                call = _take(chat, name, json.loads(data)) or call
    return call


def _admit(chat: _Chat, messages: Sequence[JsonObject]) -> AdmittedQuery:
    request = request_of(chat.entry, messages)
    return AdmittedQuery(
        live=chat.live,
        caller=chat.caller,
        user=chat.caller.user,
        query=parse_query(request, max_messages=settings.MAX_MESSAGES),
        ids=new_ids(chat.trace_id.encode()),
        size=len(encode_json(request)),
        origin=chat.origin,
    )


def _take(chat: _Chat, name: str, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    match name:
        case "copilotMessageChunk":
            chat.text += data["delta"]
        case "copilotFunctionCall":
            chat.called.add(data["function"])
            return data
        case "copilotCitationCollection":
            for citation in data["citations"]:
                source = citation["source_info"]
                names = (source.get(key) for key in ("uuid", "widget_id", "name"))
                chat.cited.update(filter(None, names))
    return None


def _read_answer(chat: _Chat, error: str) -> CaseAnswer:
    """Return the answer, completed from the stored runs."""
    runs = list(Run.objects.filter(pk__in=chat.runs).order_by("started_at"))
    last = runs[-1] if runs else None
    if last is not None and last.outcome == Outcome.INTERRUPTED:
        raise Unavailable(last.error)
    if last is not None and last.outcome not in ANSWERED:
        error = error or last.error
    return CaseAnswer(
        text=chat.text,
        error=error,
        trace_id=chat.trace_id,
        cited=frozenset(chat.cited),
        called=frozenset([*chat.called, *_read_server_calls(chat.runs)]),
        ttft_ms=last.ttft_ms if last else None,
        ms=sum(run.ms or 0 for run in runs),
        input_tokens=sum(run.input_tokens for run in runs),
        output_tokens=sum(run.output_tokens for run in runs),
        cost=sum_costs(Cost(run.cost, CostConfidence(run.cost_confidence)) for run in runs),
    )


def _read_server_calls(run_ids: Sequence[UUID]) -> Iterator[str]:
    calls = Event.objects.filter(run__in=run_ids, type__in=(EventType.TOOL, EventType.COMPONENT))
    kept = list(calls.values_list("payload", "blob_id"))
    large = load(sha for _payload, sha in kept if sha)
    for payload, sha in kept:
        content = large.get(sha) if sha else payload
        if isinstance(content, Mapping):
            yield str(content["name"])


def first_messages(entry: TestCaseEntry) -> list[JsonObject]:
    earlier = [{"role": one.role, "content": one.content} for one in entry.earlier]
    return [*earlier, {"role": "human", "content": entry.question}]


def request_of(entry: TestCaseEntry, messages: Sequence[JsonObject]) -> JsonObject:
    widgets: dict[str, list[Json]] = {"primary": [], "secondary": [], "extra": []}
    for widget in entry.widgets:
        widgets[widget.place].append(_widget(widget))
    widgets["primary"] += [_file_widget(file) for file in entry.files]
    return {
        "messages": list(messages),
        "widgets": widgets,
        "context": [],
        "tools": entry.tools,
        "workspace_options": entry.options,
        "timezone": entry.timezone or "UTC",
        **({"skills_catalog": entry.skills} if entry.skills else {}),
        **({"model": entry.model} if entry.model else {}),
    }


def result_messages(entry: TestCaseEntry, call: Mapping[str, Any]) -> list[JsonObject]:
    """Return a call and its result, as Workspace appends them to the chat."""
    made = {"function": call["function"], "input_arguments": call["input_arguments"]}
    return [
        {"role": "ai", "content": json.dumps(made)},
        {
            "role": "tool",
            **made,
            "data": result_of(entry, call["function"], call["input_arguments"]),
            "extra_state": call.get("extra_state") or {},
        },
    ]


def result_of(entry: TestCaseEntry, function: str, given: Mapping[str, Any]) -> list[Json]:
    """Return the data of a result: the widgets' data, else the test data."""
    if function in WIDGET_DATA_FUNCTIONS:
        return [_data_of(entry, source) for source in given.get("data_sources") or ()]
    saved: Sequence[Json] | None = entry.results.get(function)
    return [DONE] if saved is None else list(saved)


def _data_of(entry: TestCaseEntry, source: Mapping[str, Any]) -> JsonObject:
    uuid, id = source.get("widget_uuid"), source.get("id")
    # A dashboard may contain a widget twice; the uuid distinguishes two with the same id.
    alike = [one for one in entry.widgets if uuid == one.effective_uuid or id == one.id]
    if alike:
        found = _items(next((one for one in alike if uuid == one.effective_uuid), alike[0]))
    else:
        file = next((one for one in entry.files if one.id == id), None)
        found = None if file is None else [{"content": file.content, "data_format": _format(file)}]
    if found is None:
        return {"error_type": "not_found", "content": f"There is no data of the widget {id}."}
    return {"items": found}


def _items(widget: WidgetEntry) -> list[Json] | None:
    if widget.rows is not None:
        return [_item(json.dumps(widget.rows), parse_as="table")]
    if widget.text is not None:
        return [_item(widget.text, parse_as="text")]
    return None if widget.items is None else list(widget.items)


def _item(content: str, *, parse_as: str) -> JsonObject:
    return {"content": content, "data_format": {"data_type": "object", "parse_as": parse_as}}


def _widget(widget: WidgetEntry) -> JsonObject:
    return {
        "uuid": widget.effective_uuid,
        "origin": widget.origin,
        "widget_id": widget.id,
        "name": widget.name or widget.id,
        "description": widget.description,
        "category": widget.category,
        "columns": widget.columns or list(widget.rows[0] if widget.rows else ()),
        "params": widget.params,
        "metadata": {},
    }


def _file_widget(file: FileEntry) -> JsonObject:
    about = {"name": file.name, "description": file.name}
    return {"origin": UPLOADS, "widget_id": file.id, **about, "params": [], "metadata": {}}


def _format(file: FileEntry) -> JsonObject:
    kind = file.name.rpartition(".")[2].lower()
    return {"data_type": "txt" if kind == "text" else kind, "filename": file.name}
