"""A client that asks and a server that answers, straight into the tables."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from copilot_admin.agent.values.answer_request import Output
from copilot_admin.agent.values.model_call import Finish, Usage
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import Conversation, CopilotVersion, Logging, Outcome, Run
from copilot_admin.transcripts.matching.requests import RunStart, prepare
from copilot_admin.transcripts.store.end_rows import finish
from copilot_admin.transcripts.store.recorder import Ending, Recorder, RunEnd
from copilot_admin.transcripts.store.rollups import count_finished_runs
from copilot_admin.transcripts.store.run_start import AcceptedRun, accept
from protocol.events import FunctionCall, MessageChunk
from protocol.models import (
    AiMessage,
    CallMessage,
    DataItem,
    Generation,
    HumanMessage,
    Message,
    Query,
    ResultMessage,
    SourceData,
)
from protocol.serializers import echo_of
from tests.factories import make_version

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def human(text: str) -> HumanMessage:
    return HumanMessage(text)


def ai(text: str) -> AiMessage:
    return AiMessage(text)


def call_event(widget: str = "w-1") -> FunctionCall:
    sources = [{"widget_uuid": widget, "origin": "OpenBB API", "id": "price", "input_args": {}}]
    return FunctionCall(
        function="get_widget_data",
        input_arguments={"data_sources": sources},
        extra_state={"signed": "by us"},
    )


def call_echo(widget: str = "w-1") -> CallMessage:
    return echo_of(call_event(widget), Generation.THREE)


def result(content: str = "42", widget: str = "w-1") -> ResultMessage:
    return ResultMessage(
        "get_widget_data",
        call_echo(widget).input_arguments,
        (SourceData((DataItem(content=content),)),),
        {"signed": "by us"},
    )


def ending(outcome: Outcome = Outcome.COMPLETED, **changes: Any) -> Ending:
    return Ending(**{"outcome": outcome, "ms": 900, "ttft_ms": 300, **changes})


def recorder_of(*outputs: Output, **options: Any) -> Recorder:
    recorder = Recorder(**options)
    for index, output in enumerate(outputs):
        recorder.add(output, at_ms=index * 10)
    return recorder


def end_of(
    run_id: UUID,
    *outputs: Output,
    ended: Ending | None = None,
    at: datetime = START,
    **options: Any,
) -> RunEnd:
    return recorder_of(*outputs, **options).finish(ended or ending(), run_id=run_id, at=at)


@dataclass
class Asked:
    """One request and what was stored of it."""

    run_id: UUID
    accepted: AcceptedRun
    at: datetime
    keep_content: bool
    generation: Generation

    @property
    def run(self) -> Run:
        return Run.objects.get(pk=self.run_id)

    @property
    def conversation(self) -> Conversation:
        assert self.accepted.conversation_id is not None
        return Conversation.objects.get(pk=self.accepted.conversation_id)

    def answer(
        self, *outputs: Output | str, ended: Ending | None = None, counted: bool = True
    ) -> "Asked":
        """Ends the run; unless it is said otherwise, with the tokens of a short answer."""
        said = [MessageChunk(one) if isinstance(one, str) else one for one in outputs]
        usual = (Usage(input_tokens=10, output_tokens=5), Finish("stop"))
        ended = ended or ending()
        end = end_of(
            self.run_id,
            *said,
            *(usual if counted else ()),
            ended=ended,
            at=self.at + timedelta(milliseconds=ended.ms),
            keep_content=self.keep_content,
            generation=self.generation,
        )
        with transaction.atomic():
            assert finish(end)
        count_finished_runs()  # as a server does a few seconds later
        return self


@dataclass
class Client:
    """Somebody who asks one copilot; every request comes a second after the one before."""

    version: CopilotVersion = field(default_factory=make_version)
    principal: str = "anonymous"
    trace_id: str | None = None
    logging: Logging = Logging.EVERYTHING
    generation: Generation = Generation.THREE
    now: datetime = START
    user: AskingUser | None = None
    origin: int | None = None

    def start(self, *messages: Message | str, **query: Any) -> RunStart:
        said = tuple(human(one) if isinstance(one, str) else one for one in messages)
        self.now += timedelta(seconds=1)
        return RunStart(
            run_id=uuid4(),
            copilot_id=self.version.copilot_id,
            version_id=self.version.pk,
            logging=self.logging,
            principal=self.principal,
            trace_id=self.trace_id,
            query=Query(messages=said, generation=self.generation, **query),
            size=1000,
            provider="Provider",
            model="small-1",
            params={"temperature": 0.2},
            started_at=self.now,
            user=self.user,
            origin=self.origin,
        )

    def ask(self, *messages: Message | str, **query: Any) -> Asked:
        start = self.start(*messages, **query)
        with transaction.atomic():
            accepted = accept(prepare(start))
        keep = self.logging is Logging.EVERYTHING
        return Asked(start.run_id, accepted, start.started_at, keep, self.generation)

    def another(self, **changes: Any) -> "Client":
        return Client(**{"version": self.version, "now": self.now, **changes})


def shape(conversation: Conversation) -> list[tuple[int, str, str, str]]:
    """The tree of messages: depth, role, kind, text, in the order stored."""
    nodes = conversation.nodes.order_by("id")
    return [(node.depth, node.role, node.kind, node.text[:20]) for node in nodes]
