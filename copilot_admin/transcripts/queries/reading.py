"""Conversations as turns in the order of the tree, each with its runs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

from django.db.models import F, OuterRef, Prefetch, Q, Subquery, Window, prefetch_related_objects
from django.db.models.functions import RowNumber

from copilot_admin.models import (
    OTHER_EVENT,
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
from copilot_admin.transcripts.store.recorder import redact_recording
from copilot_admin.transcripts.store.run_events import RunEvent
from copilot_admin.transcripts.store.transcript_store import load_unfinished
from protocol.json import Json, JsonObject, object_of

# Events that follow all other output.
_AT_THE_END = (EventType.CITATION, EventType.SUGGESTIONS, EventType.FUNCTION_CALL, OTHER_EVENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Limits of a turn: the first events of a run (and those that end an answer), the newest runs."""

    events: int | None = None
    runs: int | None = None


WHOLE = Extent()


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
    conversation: Conversation, turns: Collection[int], extent: Extent
) -> dict[int, list[Any]]:
    """Return the runs of turns with their events, and the place of the `last_event`."""
    events = Event.objects.order_by("ord")
    last = Event.objects.filter(run=OuterRef("pk")).order_by("-ord").values("ord")[:1]
    if extent.events is not None:
        events = events.filter(Q(ord__lt=extent.events) | Q(type__in=_AT_THE_END))
    rows = Run.objects.filter(conversation=conversation, turn__in=turns)
    rows = rows.select_related("copilot_version", "copilot").defer("copilot_version__document")
    if extent.runs is not None:
        newest = [F("started_at").desc(), F("id").desc()]
        number = Window(RowNumber(), partition_by=F("turn_id"), order_by=newest)
        rows = rows.annotate(from_the_end=number).filter(from_the_end__lte=extent.runs)
    runs: dict[int, list[Any]] = defaultdict(list)
    rows = rows.annotate(last_event=Subquery(last)).prefetch_related(Prefetch("events", events))
    for run in rows.order_by("started_at", "id"):
        runs[run.turn_id or 0].append(run)
    return runs


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

    @property
    def id(self) -> int:
        return self.place.id

    @property
    def row(self) -> Turn:
        return self.place.turn

    @property
    def state(self) -> str:
        return self.place.state

    @property
    def feedback(self) -> list[Feedback]:
        return list(self.row.feedback.all())


def read_turns(
    conversation: Conversation, tree: Tree, turns: Collection[int], *, extent: Extent = WHOLE
) -> Mapping[int, TurnView]:
    """Read turns of a conversation by id, in the order of the tree, in few queries.

    A KeyError means that a part of it was deleted since the tree was read.
    """
    places = [place for place in tree.places if place.id in turns]
    runs = _read_runs(conversation, turns, extent)
    every = [run for some in runs.values() for run in some]
    wanted = set(_nodes_of(turns, tree, every))
    stored = Node.objects.filter(conversation=conversation, pk__in=wanted).order_by("id")
    nodes: dict[int | None, Node] = {node.pk: node for node in stored}
    _load_contents(nodes.values(), [event for run in every for event in run.events.all()])
    results: dict[int | None, list[Node]] = defaultdict(list)
    for node in nodes.values():
        if node.kind == NodeKind.RESULT:
            results[node.parent_id].append(node)
    votes = Prefetch("feedback", Feedback.objects.order_by("id"))
    prefetch_related_objects([place.turn for place in places], votes)
    return {
        place.id: TurnView(
            place=place,
            history=tuple(nodes[one] for one in place.history),
            question=nodes.get(place.turn.human_node_id),
            runs=tuple(_run_view(run, nodes, results) for run in runs[place.id]),
        )
        for place in places
    }


def read_request(run_id: UUID) -> Json:
    """Return the request of a run without its messages and secrets; None if it isn't stored."""
    keys = Run.objects.filter(pk=run_id).values_list(*COLUMNS).first()
    return load_request(*keys) if keys else None


def make_event(event: RunEvent, order: int) -> Event:
    """Return an event of an answer that isn't stored yet, in the form of its future row."""
    facts = {name: getattr(event, name) for name in ("payload", "text_offset", "at_ms")}
    return Event(ord=order, type=str(event.type), **facts)


def _run_view(
    run: Any, nodes: Mapping[int | None, Node], results: Mapping[int | None, Sequence[Node]]
) -> RunView:
    answer, call = nodes.get(run.output_node_id), None
    if answer is not None and answer.kind != NodeKind.TEXT:
        call, before = answer, nodes.get(answer.parent_id)
        answer = before if before is not None and before.pk != run.input_leaf_id else None
    received: list[Node] = []
    node = nodes.get(run.input_leaf_id)
    while node is not None and node.role == NodeRole.TOOL:
        received.insert(0, node)
        node = nodes.get(node.parent_id)
    events = list(run.events.all())
    n_unread = 0 if run.last_event is None else run.last_event + 1 - len(events)
    text = run.answer_text or (answer.text if answer else "")
    if run.outcome == Outcome.RUNNING:
        unfinished, rules = load_unfinished(run.pk), rules_of(run.copilot)
        if rules:
            unfinished = redact_recording(unfinished, rules)
        text = unfinished.text
        events = [make_event(one, order) for order, one in enumerate(unfinished.events)]
    return RunView(
        row=run,
        received=tuple(received),
        answer=text,
        echo_differs=bool(answer and answer.echo_differs),
        events=tuple(events),
        unread_events=n_unread,
        call=_call_view(call, results[call.pk]) if call else None,
    )


def _call_view(node: Node, results: Sequence[Node]) -> CallView:
    data = node.data or {}
    arguments = data.get("input_arguments")
    return CallView(
        function=str(data.get("function", "")),
        arguments=arguments if isinstance(arguments, dict) else None,
        echo_differs=node.echo_differs,
        results=tuple(results),
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
