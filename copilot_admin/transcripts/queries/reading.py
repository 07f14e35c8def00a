"""Conversations as turns in the order of the tree, each with its runs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

from django.db.models import Count, F, Q, Window
from django.db.models.functions import RowNumber

from copilot_admin.errors import ConfigurationError
from copilot_admin.models import (
    OTHER_EVENT,
    Checkpoint,
    Conversation,
    Event,
    EventType,
    Feedback,
    Node,
    NodeKind,
    NodeRole,
    Outcome,
    Run,
    Turn,
)
from copilot_admin.redaction.rules import rules_of
from copilot_admin.storage import blobs
from copilot_admin.transcripts.matching.messages import COLUMNS, load_request, parse_content
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace
from copilot_admin.transcripts.store.recorder import Recording, join_pieces, redact_recording
from copilot_admin.transcripts.store.run_events import RunEvent
from copilot_admin.transcripts.store.transcript_store import unpack_piece
from protocol.json import Json, JsonObject, object_of

MAX_IDS = 5_000  # of one query; for more messages, the full conversation is read
# Events that follow all other output.
_AT_THE_END = (EventType.CITATION, EventType.SUGGESTIONS, EventType.FUNCTION_CALL, OTHER_EVENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Limits of a turn: the first events of a run (and those that end an answer), the newest runs."""

    events: int | None = None
    runs: int | None = None


WHOLE = Extent()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    nodes: dict[int, Node]
    results: dict[int, list[Node]]  # by the call
    events: dict[UUID, list[Event]]
    running: dict[UUID, Recording]
    unread_events: Mapping[UUID, int]

    def node(self, pk: int | None) -> Node | None:
        return self.nodes.get(pk) if pk is not None else None


def _load_contents(nodes: Iterable[Node], events: Iterable[Event]) -> None:
    """Set the data of calls and results, and the payloads that are stored separately."""
    calls = [node for node in nodes if node.kind != NodeKind.TEXT]
    large = [event for event in events if event.blob_id]
    shas = {call.blob_id for call in calls} | {event.blob_id for event in large}
    found = blobs.load(sha for sha in shas if sha)
    for event in large:
        event.payload = object_of(found.get(event.blob_id or ""))
    for call in calls:
        sha = call.blob_id
        call.data = object_of(found.get(sha)) if sha else parse_content(call.text)
        call.text = ""


def _nodes_of(turns: Collection[int], tree: Tree, runs: Iterable[Run]) -> Iterator[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for node, parent in tree.parents.items():
        if parent is not None:
            children[parent].append(node)
    asked = [node for node, turn in tree.asked.items() if turn in turns]
    ends = {one for run in runs for one in (run.input_leaf_id, run.output_node_id)}
    for start in [*asked, *(one for one in ends if one is not None)]:
        yield start
        for one in tree.above(start):
            if one in tree.asked:
                break
            yield one
    while asked:
        node = asked.pop()
        below = [child for child in children[node] if child not in tree.asked]
        yield from below
        asked += below


def _read_runs(
    conversation: Conversation, turns: Collection[int] | None, *, limit: int | None
) -> dict[int, list[Run]]:
    rows = Run.objects.filter(conversation=conversation, turn__isnull=False)
    rows = rows.select_related("copilot_version", "copilot").defer("copilot_version__document")
    if turns is not None:
        rows = rows.filter(turn__in=turns)
    if limit is not None:
        newest = [F("started_at").desc(), F("id").desc()]
        number = Window(RowNumber(), partition_by=F("turn_id"), order_by=newest)
        rows = rows.annotate(from_the_end=number).filter(from_the_end__lte=limit)
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in rows.order_by("started_at", "id"):
        runs[run.turn_id or 0].append(run)
    return runs


def _read_events(
    conversation: Conversation,
    turns: Collection[int] | None,
    *,
    runs: Collection[Run],
    extent: Extent,
) -> dict[UUID, list[Event]]:
    events: dict[UUID, list[Event]] = defaultdict(list)
    rows = Event.objects.filter(run__conversation=conversation).order_by("run", "ord")
    if turns is not None:
        rows = rows.filter(run__turn__in=turns)
    if extent.runs is not None:
        rows = rows.filter(run__in=[run.pk for run in runs])
    if extent.events is not None:
        rows = rows.filter(Q(ord__lt=extent.events) | Q(type__in=_AT_THE_END))
    for event in rows:
        events[event.run_id].append(event)
    return events


def _count_unread(events: Mapping[UUID, list[Event]], *, limit: int | None) -> Mapping[UUID, int]:
    if limit is None:
        return {}
    full = {run: len(some) for run, some in events.items() if len(some) >= limit}
    rows = Event.objects.filter(run__in=list(full)).order_by().values("run")
    counted = rows.annotate(number=Count("pk")).values_list("run", "number")
    return {run: number - full[run] for run, number in counted}


def _read_checkpoints(runs: Iterable[Run]) -> dict[UUID, Recording]:
    pieces = defaultdict(list)
    running = {run.pk: run for run in runs if run.outcome == Outcome.RUNNING}
    rows = Checkpoint.objects.filter(run__in=list(running)).order_by("run", "ord")
    for run_id, order, data in rows.values_list("run_id", "ord", "data"):
        with suppress(ConfigurationError):  # it is encrypted, and the key is lost
            pieces[run_id].append(unpack_piece(run_id, order, bytes(data)))
    records = {run_id: join_pieces(some) for run_id, some in pieces.items()}
    for run_id, record in records.items():
        if rules := rules_of(running[run_id].copilot):
            records[run_id] = redact_recording(record, rules)
    return records


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """A client function call that a run ended in."""

    function: str
    arguments: JsonObject | None
    echo_differs: bool
    results: tuple[Node, ...]  # several if the client repeated the request


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One HTTP request and its answer.

    Payloads of `events` have the form of generation 3 on the wire; of `tool` `{name, arguments,
    result}`, of `reasoning` `{text}`, of others `{event, data}`, or `{fact, data}` if not sent.
    """

    row: Run
    received: tuple[Node, ...] = ()  # function results in this request
    answer: str = ""  # of a running run that of its checkpoints
    echo_differs: bool = False  # the client sent this answer back with different text
    events: tuple[Event, ...] = ()  # output other than text
    call: CallView | None = None
    unread_events: int = 0

    @property
    def id(self) -> UUID:
        return self.row.pk

    @property
    def version(self) -> int | None:
        return self.row.copilot_version.number if self.row.copilot_version else None

    @property
    def prices(self) -> dict[str, Decimal]:
        """US dollars for a million tokens by kind, as they were when the run started."""
        kinds = ("input", "cached", "output", "reasoning")
        prices = {kind: getattr(self.row, f"{kind}_price") for kind in kinds}
        return {kind: price for kind, price in prices.items() if price is not None}

    @property
    def has_request(self) -> bool:
        return self.row.env_id is not None


Attempt: TypeAlias = tuple[RunView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """A question (None for a result without one) and all runs that answered it, oldest first.

    A function call splits a turn into two runs; a regenerated answer is one more.
    """

    place: TurnPlace
    history: tuple[Node, ...] = ()
    question: Node | None = None
    runs: tuple[RunView, ...]
    feedback: Sequence[Feedback] = ()

    @property
    def id(self) -> int:
        return self.place.id

    @property
    def row(self) -> Turn:
        return self.place.turn

    @property
    def state(self) -> str:
        return self.place.state


def read_turns(
    conversation: Conversation,
    tree: Tree,
    turns: Collection[int] | None = None,
    *,
    extent: Extent = WHOLE,
) -> Mapping[int, TurnView]:
    """Read some or all turns of a conversation by id, in the order of the tree, in few queries.

    A KeyError means that a part of it was deleted since the tree was read.
    """
    runs = _read_runs(conversation, turns, limit=extent.runs)
    every = [run for some in runs.values() for run in some]
    wanted = None if turns is None else set(_nodes_of(turns, tree, every))
    stored = Node.objects.filter(conversation=conversation).order_by("id")
    if wanted is not None and len(wanted) <= MAX_IDS:
        stored = stored.filter(pk__in=wanted)
    nodes = {node.pk: node for node in stored if wanted is None or node.pk in wanted}
    events = _read_events(conversation, turns, runs=every, extent=extent)
    _load_contents(nodes.values(), [event for some in events.values() for event in some])
    results: dict[int, list[Node]] = defaultdict(list)
    for node in nodes.values():
        if node.parent_id is not None and node.kind == NodeKind.RESULT:
            results[node.parent_id].append(node)
    feedback: dict[int, list[Feedback]] = defaultdict(list)
    votes = Feedback.objects.filter(turn__conversation=conversation).order_by("id")
    for vote in votes if turns is None else votes.filter(turn__in=turns):
        feedback[vote.turn_id].append(vote)
    rows = StoredRows(
        nodes=nodes,
        results=results,
        events=events,
        running=_read_checkpoints(every),
        unread_events=_count_unread(events, limit=extent.events),
    )
    return {
        place.id: TurnView(
            place=place,
            history=tuple(nodes[one] for one in place.history),
            question=rows.node(place.turn.human_node_id),
            runs=tuple(_run_view(run, rows) for run in runs[place.id]),
            feedback=feedback[place.id],
        )
        for place in tree.places
        if turns is None or place.id in turns
    }


def read_request(run_id: UUID) -> Json:
    """Return the request of a run without its messages and secrets; None if it isn't stored."""
    keys = Run.objects.filter(pk=run_id).values_list(*COLUMNS).first()
    return load_request(*keys) if keys else None


def make_event(event: RunEvent, order: int) -> Event:
    """Return an event of an answer that isn't stored yet, in the form of its future row."""
    facts = {name: getattr(event, name) for name in ("payload", "text_offset", "at_ms")}
    return Event(ord=order, type=str(event.type), **facts)


def _run_view(run: Run, rows: StoredRows) -> RunView:
    answer, call = rows.node(run.output_node_id), None
    if answer is not None and answer.kind != NodeKind.TEXT:
        call, before = answer, rows.node(answer.parent_id)
        answer = before if before is not None and before.pk != run.input_leaf_id else None
    received: list[Node] = []
    node = rows.node(run.input_leaf_id)
    while node is not None and node.role == NodeRole.TOOL:
        received.insert(0, node)
        node = rows.node(node.parent_id)
    running = rows.running.get(run.pk)
    events = rows.events.get(run.pk, [])
    if running is not None and running.events:
        events = [make_event(one, order) for order, one in enumerate(running.events)]
    return RunView(
        row=run,
        received=tuple(received),
        answer=running.text if running else run.answer_text or (answer.text if answer else ""),
        echo_differs=bool(answer and answer.echo_differs),
        events=tuple(events),
        unread_events=rows.unread_events.get(run.pk, 0),
        call=_call_view(call, rows) if call else None,
    )


def _call_view(node: Node, rows: StoredRows) -> CallView:
    data = node.data or {}
    arguments = data.get("input_arguments")
    return CallView(
        function=str(data.get("function", "")),
        arguments=arguments if isinstance(arguments, dict) else None,
        echo_differs=node.echo_differs,
        results=tuple(rows.results[node.pk]),
    )


def attempts_of(runs: Sequence[RunView]) -> tuple[Attempt, ...]:
    """Group the runs of a turn into attempts, in the order in which these began.

    A run with the result of a call continues the attempt of the call. If another run did
    so before, the answer after the call was regenerated: that is another attempt with the same
    beginning. A run without a result starts from the question again.
    """
    attempts: list[Attempt] = []
    for run in runs:
        received = {message.pk for message in run.received}
        for place, attempt in reversed(list(enumerate(attempts))):
            answered = [
                index
                for index, earlier in enumerate(attempt)
                if earlier.call and received & {result.pk for result in earlier.call.results}
            ]
            if not answered:
                continue
            calling = answered[-1]
            if calling == len(attempt) - 1:
                attempts[place] = (*attempt, run)
            else:
                attempts.append((*attempt[: calling + 1], run))
            break
        else:
            attempts.append((run,))
    return tuple(attempts)
