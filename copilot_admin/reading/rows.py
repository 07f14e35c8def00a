"""The rows of a conversation, read at once and put where they are looked for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from copilot_admin.journal.checkpoints import piece_of
from copilot_admin.journal.recorder import Ending, Record, from_pieces
from copilot_admin.models import (
    Checkpoint,
    Conversation,
    Event,
    Feedback,
    Node,
    Outcome,
    Run,
    Turn,
)
from copilot_admin.storage import blobs
from copilot_admin.threads.content import data_in
from protocol.json import Json, JsonObject

_STILL_RUNNING = Ending(outcome=Outcome.RUNNING, ms=0, ttft_ms=None)


@dataclass(frozen=True, slots=True)
class Rows:
    """Everything stored of one conversation; lists in the order stored."""

    turns: list[Turn]
    nodes: dict[int, Node]
    children: dict[int, list[Node]]
    runs: dict[int, list[Run]]
    events: dict[UUID, list[Event]]
    running: dict[UUID, Record]
    feedback: dict[int, list[Feedback]]
    contents: Mapping[str, Json]

    def parent(self, node: Node) -> Node | None:
        """The message that this one follows; none for the first."""
        return self.nodes.get(node.parent_id) if node.parent_id is not None else None

    def data(self, node: Node) -> JsonObject | None:
        """What a call or a result holds."""
        return self.content(node.blob_id) if node.blob_id else data_in(node.text)

    def content(self, sha: str | None) -> JsonObject | None:
        """The object that is stored under a hash."""
        value = self.contents.get(sha) if sha else None
        return value if isinstance(value, Mapping) else None


def read_rows(conversation: Conversation, *, contents_of: int | None = None) -> Rows:
    """Reads a conversation with about ten queries, however long it is.

    Args:
        conversation: Which.
        contents_of: The turn whose big contents are read; default: those of all.
    """
    nodes = {
        node.pk: node for node in Node.objects.filter(conversation=conversation).order_by("id")
    }
    children: dict[int, list[Node]] = defaultdict(list)
    for node in nodes.values():
        if node.parent_id is not None:
            children[node.parent_id].append(node)
    runs = _runs(conversation)
    all_runs = [run for some in runs.values() for run in some]
    events = _events(conversation)
    turns = list(Turn.objects.filter(conversation=conversation).order_by("id"))
    wanted_nodes: Iterable[Node] = nodes.values()
    wanted_runs: Iterable[Run] = all_runs
    if contents_of is not None:
        wanted_nodes = _nodes_of(contents_of, turns, nodes, children)
        wanted_runs = runs[contents_of]
    shas = {node.blob_id for node in wanted_nodes} | {
        event.blob_id for run in wanted_runs for event in events[run.pk]
    }
    return Rows(
        turns=turns,
        nodes=nodes,
        children=children,
        runs=runs,
        events=events,
        running=_running(all_runs),
        feedback=_feedback(conversation),
        contents=blobs.load(sha for sha in shas if sha),
    )


def _nodes_of(
    turn_id: int, turns: Iterable[Turn], nodes: Mapping[int, Node], children: dict[int, list[Node]]
) -> Iterator[Node]:
    """The messages of a turn: from its question down to the next ones."""
    asked = {turn.human_node_id: turn.pk for turn in turns}
    waiting = [node for node in nodes.values() if asked.get(node.pk) == turn_id]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in children.get(node.pk, ()) if child.pk not in asked]


def _runs(conversation: Conversation) -> dict[int, list[Run]]:
    found = Run.objects.filter(conversation=conversation).select_related("copilot_version")
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in found.defer("copilot_version__document").order_by("started_at", "id"):
        if run.turn_id is not None:
            runs[run.turn_id].append(run)
    return runs


def _feedback(conversation: Conversation) -> dict[int, list[Feedback]]:
    feedback: dict[int, list[Feedback]] = defaultdict(list)
    for one in Feedback.objects.filter(turn__conversation=conversation).order_by("id"):
        feedback[one.turn_id].append(one)
    return feedback


def _events(conversation: Conversation) -> dict[UUID, list[Event]]:
    events: dict[UUID, list[Event]] = defaultdict(list)
    for event in Event.objects.filter(run__conversation=conversation).order_by("run", "ord"):
        events[event.run_id].append(event)
    return events


def _running(runs: Iterable[Run]) -> dict[UUID, Record]:
    """What running runs have streamed until their last checkpoint."""
    pieces = defaultdict(list)
    ids = [run.pk for run in runs if run.outcome == Outcome.RUNNING]
    rows = Checkpoint.objects.filter(run__in=ids).order_by("run", "ord")
    for run_id, order, data in rows.values_list("run_id", "ord", "data"):
        pieces[run_id].append(piece_of(order, bytes(data)))
    return {run_id: from_pieces(some, _STILL_RUNNING) for run_id, some in pieces.items()}
