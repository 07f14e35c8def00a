"""Load the demo conversations into the database, and remove them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
import json
from pathlib import Path
import random
from uuid import UUID

from django.db import transaction
from django_tasks import task
from pydantic import TypeAdapter
import yaml

from copilot_admin.agent.providers.demo_answers import (
    LABEL,
    DemoAnswer,
    SampleWidget,
    find_demo_answer,
)
from copilot_admin.agent.tools.artifacts import ChartType, chart_params
from copilot_admin.agent.values.answer_request import ToolExchange
from copilot_admin.agent.values.model_call import Finish, Usage
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.import_export.changes import record_import
from copilot_admin.import_export.formats import read_yaml
from copilot_admin.import_export.importing import import_values
from copilot_admin.jobs.deletion import delete_copilot, mark_for_deletion
from copilot_admin.models import (
    Access,
    Action,
    Conversation,
    Copilot,
    CopilotVersion,
    Criterion,
    Logging,
    Outcome,
    ReviewState,
    Turn,
)
from copilot_admin.transcripts.access import Person
from copilot_admin.transcripts.feedback import SubmittedFeedback, store_turn_feedback
from copilot_admin.transcripts.matching.requests import RunStart, prepare
from copilot_admin.transcripts.store.end_rows import finish
from copilot_admin.transcripts.store.recorder import Ending, Recorder
from copilot_admin.transcripts.store.rollups import count_finished_runs
from copilot_admin.transcripts.store.run_start import accept
from copilot_admin.transcripts.verdicts import save_verdict, set_review_state
from protocol.events import (
    ArtifactType,
    Citation,
    CitationCollection,
    Event,
    FunctionCall,
    MessageArtifact,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.functions import GET_WIDGET_DATA
from protocol.json import JsonObject
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

CONVERSATIONS_FILE = Path(__file__).resolve().parent.parent / "samples" / "demo_conversations.yaml"
USERS = (
    "Amara Diallo", "Ben Hartley", "Chiara Russo", "Daniel Weiss", "Elif Kaya", "Femi Adeyemi",
    "Grace Lin", "Hugo Laurent",
)  # fmt: skip
# Names of labels with their explanations.
LABELS: Mapping[str, str] = {
    "Wrong number": "A number differs from its source.",
    "No source": "A number has no source.",
    "Too long": "The answer could be half as long.",
}
# Codes of `errors.py` with the sentence for the user.
FAILURES: Mapping[str, str] = {
    "ProviderRateLimited": "The provider's rate limit was reached. Try again in a minute.",
    "ProviderUnavailable": 'The provider is unavailable (503: "overloaded"). Try again.',
    "ContextTooLong": "The question and its data are too long for the model.",
}
DAYS = 30
PRINCIPAL = "anonymous"
ORIGIN = "Demo"
READ_MS = 700  # of the call for data; the client answers it soon afterwards
READ_TIME = timedelta(seconds=1)
_MODELS = ("demo-large", "demo-small")
_OFFICE_HOURS = (7, 18)  # UTC


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """A conversation of the demo."""

    copilot: str  # slug
    questions: Sequence[str]
    vote: int = 0  # 1 or -1 for the last answer, with a reason and a comment
    reason: str = ""
    comment: str = ""
    rating: str = ""  # of a reviewer, with labels
    labels: Sequence[str] = ()
    failure: str = ""  # of the last answer, a key of `FAILURES`


def read_demo_conversations() -> list[DemoConversation]:
    """Return the conversations from the oldest to the newest."""
    rows = yaml.safe_load(CONVERSATIONS_FILE.read_text(encoding="utf-8"))
    return TypeAdapter(list[DemoConversation]).validate_python(rows)


FILE = Path(__file__).resolve().parent.parent / "samples" / "demo.yaml"


def has_demo_data() -> bool:
    """Return whether demo conversations are loaded, or being removed."""
    return Copilot.objects.filter(is_demo=True).exists()


def load_demo_data(reviewer: Person, *, by: Actor, now: datetime) -> int:
    """Load the demo copilots and conversations of the 30 days before; return their number."""
    with transaction.atomic():
        if has_demo_data():
            return 0
        values = read_yaml(FILE.read_text(encoding="utf-8"))
        record_import(import_values(values, default_access=Access.KEY, publishing=True), by=by)
        rows = read_demo_conversations()
        slugs = {row.copilot for row in rows}
        Copilot.objects.filter(slug__in=slugs).update(is_demo=True)
        loader = _Loader(reviewer, now, len(rows))
        for number, row in enumerate(rows):
            loader.add(row, number)
    while count_finished_runs():
        pass
    return len(rows)


def remove_demo_data(*, by: Actor) -> None:
    """Disable the demo copilots and remove them with their conversations in the background."""
    with transaction.atomic():
        mark_for_deletion(_get_demo_ids())
        for copilot in Copilot.objects.filter(is_demo=True):
            record(Action.DELETED, by=by, on=Subject.of(copilot))
        transaction.on_commit(delete_demo_data.enqueue)


@task
def delete_demo_data() -> None:
    """Delete the demo copilots, their conversations, and labels that nobody else used."""
    for copilot_id in _get_demo_ids():
        delete_copilot.func(copilot_id)
    if has_demo_data():  # a deletion that takes long goes on in a task of its own
        delete_demo_data.enqueue()
    else:
        Criterion.objects.filter(name__in=LABELS, marks=None).delete()


def _get_demo_ids() -> list[int]:
    return list(Copilot.objects.filter(is_demo=True).values_list("pk", flat=True))


class _Loader:
    def __init__(self, reviewer: Person, now: datetime, n_conversations: int) -> None:
        versions = CopilotVersion.objects.filter(copilot__is_demo=True).select_related("copilot")
        self._versions = {version.copilot.slug: version for version in versions}
        self._reviewer = reviewer
        self._now = now
        self._n_conversations = n_conversations
        self._random = random.Random(30)  # noqa: S311  # the same demo each time
        self._labels = {
            name: Criterion.objects.get_or_create(name=name, defaults={"help": text})[0]
            for name, text in LABELS.items()
        }

    def add(self, row: DemoConversation, number: int) -> None:
        """Store a conversation with its feedback and verdict."""
        at = self._choose_time(number)
        user = USERS[self._random.randrange(len(USERS))]
        messages: list[Message] = []
        turn_id = conversation_id = 0
        for index, question in enumerate(row.questions):
            is_last = index == len(row.questions) - 1
            answer = find_demo_answer(
                question, role=self._versions[row.copilot].copilot.description
            )
            assert answer is not None, question  # noqa: S101  # the tests load all
            messages.append(HumanMessage(question))
            start = self._start(row, number, messages, at, user)
            stored = accept(prepare(start))
            failure = row.failure if is_last else ""
            if not failure:
                messages += self._read_widget(start, answer.widgets[0])
                start = self._start(row, number, messages, at + READ_TIME, user)
                stored = accept(prepare(start))
            self._finish(start, answer, failure)
            text = f"{LABEL}\n\n{answer.opening}\n\n{answer.closing}"
            messages.append(AiMessage(text))
            turn_id, conversation_id = stored.turn_id or 0, stored.conversation_id or 0
            at += timedelta(seconds=self._random.randrange(40, 240))
        self._add_feedback(row, turn_id)
        self._add_verdict(row, conversation_id)

    def _choose_time(self, number: int) -> datetime:
        days = DAYS * (1 - (number + 1) / self._n_conversations)
        if days < 1:  # the newest ones are of the last hours
            return self._now - timedelta(hours=2 + days * 10)
        day, hour = self._now - timedelta(days=days), self._random.randrange(*_OFFICE_HOURS)
        return day.replace(hour=hour, minute=self._random.randrange(60))

    def _start(
        self, row: DemoConversation, number: int, messages: list[Message], at: datetime, user: str
    ) -> RunStart:
        version = self._versions[row.copilot]
        name = user.lower().replace(" ", ".")
        return RunStart(
            run_id=UUID(int=self._random.getrandbits(128), version=4),
            copilot_id=version.copilot_id,
            version_id=version.pk,
            logging=Logging.EVERYTHING,
            principal=PRINCIPAL,
            trace_id=f"demo-{number}",
            query=Query(messages=tuple(messages), generation=Generation.THREE, env={}),
            size=4000,
            provider="Demo model",
            model=_MODELS[number % 3 == 0],
            params={"temperature": 0.2},
            started_at=at,
            user=AskingUser(id=f"demo:{name}", name=user, email=f"{name}@example.com"),
        )

    def _read_widget(self, start: RunStart, widget: SampleWidget) -> list[Message]:
        """Finish a run with a call for data; return the call and its result."""
        source = {"widget_uuid": str(start.run_id), "origin": ORIGIN, "id": widget.name}
        arguments: JsonObject = {"data_sources": [{**source, "input_args": {}}]}
        recorder = Recorder(keep_content=True, generation=Generation.THREE)
        recorder.add(StatusUpdate(message=f"Reading {widget.name}"), at_ms=READ_MS // 2)
        recorder.add(
            FunctionCall(function=GET_WIDGET_DATA, input_arguments=arguments), at_ms=READ_MS
        )
        recorder.add(
            Usage(input_tokens=400, output_tokens=30, cost=Decimal("0.0005")), at_ms=READ_MS
        )
        recorder.add(Finish("tool_calls"), at_ms=READ_MS)
        at = start.started_at + timedelta(milliseconds=READ_MS)
        ending = Ending(outcome=Outcome.COMPLETED, ms=READ_MS, ttft_ms=None)
        finish(recorder.finish(ending, run_id=start.run_id, at=at))
        data = SourceData((DataItem(content=json.dumps(widget.to_rows())),))
        return [
            CallMessage(GET_WIDGET_DATA, arguments),
            ResultMessage(GET_WIDGET_DATA, arguments, (data,)),
        ]

    def _finish(self, start: RunStart, answer: DemoAnswer, failure: str) -> None:
        first_ms = self._random.randrange(400, 1900)
        ms = first_ms + self._random.randrange(1500, 6500)
        recorder = Recorder(keep_content=True, generation=Generation.THREE)
        if not failure:
            for output in _outputs(answer, start.run_id):
                recorder.add(output, at_ms=first_ms)
            tokens = (self._random.randrange(900, 4200), self._random.randrange(150, 600))
            price = Decimal(4 if start.model == _MODELS[0] else 1)  # USD for a million tokens
            cost = (tokens[0] + 4 * tokens[1]) * price / 1_000_000
            usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1], cost=cost)
            recorder.add(usage, at_ms=ms)
            recorder.add(Finish("stop"), at_ms=ms)
        ending = Ending(
            outcome=Outcome.FAILED if failure else Outcome.COMPLETED,
            ms=ms,
            ttft_ms=None if failure else first_ms,
            error=FAILURES.get(failure, ""),
            error_code=failure,
        )
        at = start.started_at + timedelta(milliseconds=ms)
        finish(recorder.finish(ending, run_id=start.run_id, at=at))

    def _add_feedback(self, row: DemoConversation, turn_id: int) -> None:
        if row.vote:
            feedback = SubmittedFeedback(
                vote="thumbs_up" if row.vote > 0 else "thumbs_down",
                tags=[row.reason] if row.reason else [],
                user_comment=row.comment,
            )
            turn = Turn.objects.get(pk=turn_id)
            store_turn_feedback(feedback, turn=turn)
            turn.feedback.update(created_at=turn.started_at)  # no alert for old thumbs

    def _add_verdict(self, row: DemoConversation, conversation_id: int) -> None:
        if row.rating:
            marks = {self._labels[name].pk: 1 for name in row.labels}
            conversation = Conversation.objects.get(pk=conversation_id)
            save_verdict(conversation, self._reviewer, rating=row.rating, marks=marks)
            set_review_state(conversation_id, ReviewState.DONE)


def _outputs(answer: DemoAnswer, run_id: UUID) -> Iterator[Event | ToolExchange]:
    yield MessageChunk(f"{LABEL}\n\n{answer.opening}")
    widget = answer.widgets[0]

    def show(kind: ArtifactType, params: JsonObject | None = None) -> MessageArtifact:
        return MessageArtifact(
            type=kind,
            uuid=f"{run_id}-{kind}",
            artifact_name=widget.name,
            description=widget.description,
            content=widget.to_rows(),
            chart_params=params,
        )

    if answer.chart is not None:
        chart = answer.chart
        params = chart_params(ChartType(chart["type"]), x=chart["x"], y=list(chart["y"]))
        yield ToolExchange(ArtifactType.CHART, json.dumps(params), "The chart is shown.")
        yield show(ArtifactType.CHART, params)
    if answer.has_table:
        yield ToolExchange(ArtifactType.TABLE, "{}", "The table is shown.")
        yield show(ArtifactType.TABLE)
    yield MessageChunk(f"\n\n{answer.closing}")
    citations = (
        Citation(
            id=f"{run_id}-{number}",
            source_info={"type": "widget", "name": widget.name, "origin": ORIGIN},
            details=({"Name": widget.name},),
        )
        for number, widget in enumerate(answer.widgets)
    )
    yield CitationCollection(tuple(citations))
    yield PromptSuggestions(tuple(answer.follow_ups))
