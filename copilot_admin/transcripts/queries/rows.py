"""The rows of a conversation, loaded in bulk and indexed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
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
    Outcome,
    Run,
)
from copilot_admin.redaction.rules import rules_of
from copilot_admin.storage import blobs
from copilot_admin.transcripts.matching.messages import parse_content
from copilot_admin.transcripts.queries.tree import Tree
from copilot_admin.transcripts.store.checkpoints import unpack_piece
from copilot_admin.transcripts.store.recorder import Recording, join_pieces, redact_recording
from protocol.json import object_of

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
    runs: dict[int, list[Run]]
    events: dict[UUID, list[Event]]
    running: dict[UUID, Recording]
    feedback: dict[int, list[Feedback]]
    unread_events: Mapping[UUID, int]

    def node(self, pk: int | None) -> Node | None:
        return self.nodes.get(pk) if pk is not None else None


def read_rows(
    conversation: Conversation,
    tree: Tree,
    *,
    turns: Collection[int] | None = None,
    extent: Extent = WHOLE,
) -> StoredRows:
    """Read some or all turns of a conversation with about ten queries, regardless of its length."""
    runs = _read_runs(conversation, turns, limit=extent.runs)
    every = [run for some in runs.values() for run in some]
    wanted = None if turns is None else set(_nodes_of(turns, tree, every))
    nodes = _read_nodes(conversation, wanted)
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
    return StoredRows(
        nodes=nodes,
        results=results,
        runs=runs,
        events=events,
        running=_read_checkpoints(every),
        feedback=feedback,
        unread_events=_count_unread(events, limit=extent.events),
    )


def _read_nodes(conversation: Conversation, wanted: Collection[int] | None) -> dict[int, Node]:
    rows = Node.objects.filter(conversation=conversation).order_by("id")
    if wanted is not None and len(wanted) <= MAX_IDS:
        rows = rows.filter(pk__in=wanted)
    return {node.pk: node for node in rows if wanted is None or node.pk in wanted}


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
    rules = {run_id: rules_of(running[run_id].copilot) for run_id in records}
    return {
        run_id: redact_recording(record, rules[run_id]) if rules[run_id] else record
        for run_id, record in records.items()
    }
