"""One saved question asked of a draft or a live version, on the way of every query.

The runs are builders' trials: their caller is that of the playground, so that no list and no figure
has them.
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
from copilot_admin.copilots.questions.entry import QuestionEntry
from copilot_admin.errors import TooManyRequests, Unavailable
from copilot_admin.evaluation.expectations import GivenAnswer
from copilot_admin.evaluation.simulated_workspace import first_messages, request_of, result_messages
from copilot_admin.ids import new_ids
from copilot_admin.models import CostConfidence, Event, EventType, Logging, Outcome, Run
from copilot_admin.pricing.cost import ZERO_COST, Cost, sum_costs
from copilot_admin.runs.open_run import frames, open_run
from copilot_admin.runs.query_context import AdmittedQuery
from copilot_admin.storage.blobs import load
from copilot_admin.storage.writer import READER
from protocol.json import JsonObject
from protocol.parsing import UnusableQuery, parse_query
from protocol.sse import Decoder, EventTooLarge, encode_json

MOST_LEGS = 16  # requests of one question, as in the playground
ASK_SECONDS = 300.0  # for all of them; a long answer of a slow model takes about two minutes
ANSWERED = (Outcome.COMPLETED, Outcome.TRUNCATED)


class Interrupted(Unavailable):
    """The server goes down: the question has to be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingFigures:
    """What an answer took, over all its requests."""

    ttft_ms: int | None = None
    ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Cost = ZERO_COST


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingResult:
    """What came of a question; `failure` says why there is no whole answer."""

    answer: GivenAnswer
    trace_id: str
    failure: str = ""
    figures: AskingFigures = AskingFigures()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What the journal has of a question: how its last request ended, why, and of all of them."""

    ended: str = ""
    why: str = ""
    figures: AskingFigures = AskingFigures()
    called: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Chat:
    """A question on its way."""

    live: LiveCopilot
    caller: Caller
    entry: QuestionEntry
    origin: int | None = None
    trace_id: str = field(default_factory=lambda: uuid4().hex)
    runs: list[UUID] = field(default_factory=list)
    text: str = ""
    cited: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)


async def ask(
    live: LiveCopilot, caller: Caller, entry: QuestionEntry, *, origin: int | None = None
) -> AskingResult:
    """Asks a question until it is answered; its saved simulation carries out what is called.

    Args:
        live: The draft or the live version.
        caller: The builder.
        entry: What is asked.
        origin: The conversation that the question was made from, if it was made from one.

    Raises:
        Interrupted: The server goes down.
        Unavailable: Nothing can be kept at the moment.
    """
    chat = _Chat(replace(live, logging=Logging.EVERYTHING), caller, entry, origin)
    failure = ""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            failure = await _all_legs(chat)
    except TimeoutError:
        failure = _("There was no whole answer after %d seconds.") % ASK_SECONDS
    except (UnusableQuery, TooManyRequests) as error:
        failure = error.public
    except EventTooLarge:
        failure = _("The answer holds more than can be read at once.")
    kept = await READER.run(partial(_read, tuple(chat.runs)))
    if kept.ended == Outcome.INTERRUPTED:
        raise Interrupted(kept.why)
    return AskingResult(
        answer=GivenAnswer(
            text=chat.text, cited=frozenset(chat.cited), called=kept.called | chat.called
        ),
        trace_id=chat.trace_id,
        failure=failure or ("" if kept.ended in ANSWERED else kept.why),
        figures=kept.figures,
    )


async def _all_legs(chat: _Chat) -> str:
    messages = first_messages(chat.entry)
    for _leg_number in range(MOST_LEGS):
        call = await _leg(chat, messages)
        if call is None:
            return ""
        # A question may bring 4 MB: what is made of them would hold up every other answer.
        messages += await asyncio.to_thread(result_messages, chat.entry, call)
    return _("The copilot called functions %d times without an answer.") % MOST_LEGS


async def _leg(chat: _Chat, messages: Sequence[JsonObject]) -> Mapping[str, Any] | None:
    run = await open_run(await asyncio.to_thread(_admitted, chat, messages))
    chat.runs.append(run.id)
    decoder, call = Decoder(), None
    async with aclosing(frames(run)) as pieces:
        async for piece in pieces:
            for name, data in decoder.feed(piece):
                call = _take(chat, name, json.loads(data)) or call
    return call


def _admitted(chat: _Chat, messages: Sequence[JsonObject]) -> AdmittedQuery:
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


def _read(run_ids: tuple[UUID, ...]) -> _Kept:
    runs = list(Run.objects.filter(pk__in=run_ids).order_by("started_at"))
    if not runs:
        return _Kept()
    figures = AskingFigures(
        ttft_ms=runs[-1].ttft_ms,
        ms=sum(run.ms or 0 for run in runs),
        input_tokens=sum(run.input_tokens for run in runs),
        output_tokens=sum(run.output_tokens for run in runs),
        cost=sum_costs(Cost(run.cost, CostConfidence(run.cost_confidence)) for run in runs),
    )
    return _Kept(
        ended=runs[-1].outcome,
        why=runs[-1].error,
        figures=figures,
        called=frozenset(_called_on_the_server(run_ids)),
    )


def _called_on_the_server(run_ids: tuple[UUID, ...]) -> Iterator[str]:
    calls = Event.objects.filter(run__in=run_ids, type__in=(EventType.TOOL, EventType.COMPONENT))
    kept = list(calls.values_list("payload", "blob_id"))
    large = load(sha for _payload, sha in kept if sha)
    for payload, sha in kept:
        content = large.get(sha) if sha else payload
        if isinstance(content, Mapping):
            yield str(content["name"])
