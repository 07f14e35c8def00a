"""The rows of a conversation, read at once and put where they are looked for."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
    Outcome,
    Run,
)
from copilot_admin.redaction.rules import rules_of
from copilot_admin.storage import blobs
from copilot_admin.transcripts.matching.message_store import parse_content
from copilot_admin.transcripts.queries.extent import WHOLE, Extent
from copilot_admin.transcripts.queries.tree import Tree
from copilot_admin.transcripts.store.checkpoints import piece_of
from copilot_admin.transcripts.store.record import Ending, Piece, Record
from copilot_admin.transcripts.store.recorder import from_pieces
from copilot_admin.transcripts.store.sealing import without_personal_data
from protocol.json import Json, JsonObject

MOST_NAMED = 5_000  # ids in one query; of more messages all are read
# What is said once, after everything else.
_AT_THE_END = (EventType.CITATION, EventType.SUGGESTIONS, EventType.FUNCTION_CALL, OTHER_EVENT)
_STILL_RUNNING = Ending(outcome=Outcome.RUNNING, ms=0, ttft_ms=None)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Everything stored of one conversation or of several; lists in the order stored."""

    nodes: dict[int, Node]
    children: dict[int, list[Node]]
    runs: dict[int, list[Run]]
    events: dict[UUID, list[Event]]
    running: dict[UUID, Record]
    feedback: dict[int, list[Feedback]]
    contents: Mapping[str, Json]
    unread_events: Mapping[UUID, int] = field(default_factory=dict)

    def parent(self, node: Node) -> Node | None:
        """The message that this one follows; none for the first."""
        return self.nodes.get(node.parent_id) if node.parent_id is not None else None

    def data(self, node: Node) -> JsonObject | None:
        """What a call or a result holds."""
        return self.content(node.blob_id) if node.blob_id else parse_content(node.text)

    def content(self, sha: str | None) -> JsonObject | None:
        """The object that is stored under a hash."""
        value = self.contents.get(sha) if sha else None
        return value if isinstance(value, Mapping) else None

    def with_contents(self, tree: Tree | None = None, turns: Collection[int] = ()) -> "StoredRows":
        """Return the same rows with the blobs they refer to.

        Args:
            tree: Of a conversation of which only some turns are wanted; default: all.
            turns: Those.
        """
        nodes: Iterable[Node] = self.nodes.values()
        wanted: Collection[int] = list(self.runs)
        if tree is not None:
            wanted = turns
            some = [run for turn in turns for run in self.runs[turn]]
            named = set(_nodes_of(turns, tree, some))
            nodes = [self.nodes[one] for one in named if one in self.nodes]
        ids = [run.pk for turn in wanted for run in self.runs[turn]]
        shas = {node.blob_id for node in nodes} | {
            event.blob_id for run in ids for event in self.events.get(run, ())
        }
        return replace(self, contents=blobs.load(sha for sha in shas if sha))


def read_rows(
    conversation: Conversation,
    tree: Tree,
    *,
    turns: Collection[int] | None = None,
    nodes: Collection[int] = (),
    extent: Extent = WHOLE,
) -> StoredRows:
    """Reads a conversation with about ten queries, however long it is.

    Args:
        conversation: Which.
        tree: How it hangs together.
        turns: The turns that are read; default: all.
        nodes: Messages that are read besides.
        extent: How much of them.
    """
    ids = (conversation.pk,)
    runs = _runs(ids, turns, most=extent.runs)
    wanted = None if turns is None else {*nodes, *_nodes_of(turns, tree, _all(runs))}
    rows = _rows(ids, runs, _nodes(ids, wanted), turns, extent=extent)
    return rows.with_contents()


def read_rows_of(conversations: Collection[int]) -> StoredRows:
    """Reads several conversations at once, as one would be, without what is big in them."""
    return _rows(conversations, _runs(conversations, None), _nodes(conversations, None), None)


def _rows(
    conversations: Collection[int],
    runs: dict[int, list[Run]],
    nodes: dict[int, Node],
    turns: Collection[int] | None,
    *,
    extent: Extent = WHOLE,
) -> StoredRows:
    children: dict[int, list[Node]] = defaultdict(list)
    for node in nodes.values():
        if node.parent_id is not None:
            children[node.parent_id].append(node)
    events = _events(conversations, turns, runs=_all(runs), extent=extent)
    return StoredRows(
        nodes=nodes,
        children=children,
        runs=runs,
        events=events,
        running=_running(_all(runs)),
        feedback=_feedback(conversations, turns),
        contents={},
        unread_events=_unread(events, most=extent.events),
    )


def _all(runs: Mapping[int, list[Run]]) -> list[Run]:
    return [run for some in runs.values() for run in some]


def _nodes(conversations: Collection[int], wanted: Collection[int] | None) -> dict[int, Node]:
    rows = Node.objects.filter(conversation__in=conversations).order_by("id")
    if wanted is not None and len(wanted) <= MOST_NAMED:
        rows = rows.filter(pk__in=wanted)
    found = {node.pk: node for node in rows if wanted is None or node.pk in wanted}
    return found


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


def _runs(
    conversations: Collection[int], turns: Collection[int] | None, *, most: int | None = None
) -> dict[int, list[Run]]:
    found = Run.objects.filter(conversation__in=conversations).select_related(
        "copilot_version", "copilot"
    )
    if turns is not None:
        found = found.filter(turn__in=turns)
    if most is not None:
        newest = [F("started_at").desc(), F("id").desc()]
        number = Window(RowNumber(), partition_by=F("turn_id"), order_by=newest)
        found = found.annotate(from_the_end=number).filter(from_the_end__lte=most)
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in found.defer("copilot_version__document").order_by("started_at", "id"):
        if run.turn_id is not None:
            runs[run.turn_id].append(run)
    return runs


def _feedback(
    conversations: Collection[int], turns: Collection[int] | None
) -> dict[int, list[Feedback]]:
    feedback: dict[int, list[Feedback]] = defaultdict(list)
    rows = Feedback.objects.filter(turn__conversation__in=conversations).order_by("id")
    for one in rows if turns is None else rows.filter(turn__in=turns):
        feedback[one.turn_id].append(one)
    return feedback


def _events(
    conversations: Collection[int],
    turns: Collection[int] | None,
    *,
    runs: Collection[Run],
    extent: Extent,
) -> dict[UUID, list[Event]]:
    events: dict[UUID, list[Event]] = defaultdict(list)
    rows = Event.objects.filter(run__conversation__in=conversations).order_by("run", "ord")
    if turns is not None:
        rows = rows.filter(run__turn__in=turns)
    if extent.runs is not None:
        rows = rows.filter(run__in=[run.pk for run in runs])
    if extent.events is not None:
        rows = rows.filter(Q(ord__lt=extent.events) | Q(type__in=_AT_THE_END))
    for event in rows:
        events[event.run_id].append(event)
    return events


def _unread(events: Mapping[UUID, list[Event]], *, most: int | None) -> Mapping[UUID, int]:
    full = {
        run: len(some) for run, some in events.items() if most is not None and len(some) >= most
    }
    if not full:
        return {}
    rows = Event.objects.filter(run__in=list(full)).order_by().values("run")
    counted = rows.annotate(number=Count("pk")).values_list("run", "number")
    return {run: number - full[run] for run, number in counted}


def _running(runs: Iterable[Run]) -> dict[UUID, Record]:
    pieces = defaultdict(list)
    running = {run.pk: run for run in runs if run.outcome == Outcome.RUNNING}
    ids = list(running)
    rows = Checkpoint.objects.filter(run__in=ids).order_by("run", "ord")
    for run_id, order, data in rows.values_list("run_id", "ord", "data"):
        with suppress(ConfigurationError):  # it is sealed, and the key is gone
            pieces[run_id].append(piece_of(run_id, order, bytes(data)))
    return {run_id: _record(running[run_id], some) for run_id, some in pieces.items()}


def _record(run: Run, pieces: Iterable[Piece]) -> Record:
    record = from_pieces(pieces, _STILL_RUNNING)
    rules = rules_of(run.copilot)
    return without_personal_data(record, rules) if rules else record
