"""A test case sent to a copilot, in as many requests as its answer needs.

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
from copilot_admin.copilots.test_cases import TestCaseEntry
from copilot_admin.errors import TooManyRequests, Unavailable
from copilot_admin.evaluation.assertions import CaseAnswer
from copilot_admin.evaluation.simulated_workspace import first_messages, request_of, result_messages
from copilot_admin.ids import new_ids
from copilot_admin.models import CostConfidence, Event, EventType, Logging, Outcome, Run
from copilot_admin.pricing.cost import Cost, sum_costs
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.storage.blobs import load
from copilot_admin.storage.writer import READER
from protocol.json import JsonObject
from protocol.parsing import UnusableQuery, parse_query
from protocol.sse import Decoder, EventTooLarge, encode_json

MAX_REQUESTS = 16  # of one test case, as in the playground
TIMEOUT_SECONDS = 300.0  # for all of them; a long answer of a slow model needs about two minutes
ANSWERED = (Outcome.COMPLETED, Outcome.TRUNCATED)


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
