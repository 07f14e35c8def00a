"""Conversations as turns in the order of the tree, each with its runs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

from copilot_admin.models import Conversation, Event, Feedback, Node, NodeKind, NodeRole, Run, Turn
from copilot_admin.transcripts.matching.messages import COLUMNS, load_request
from copilot_admin.transcripts.queries.rows import WHOLE, Extent, StoredRows, read_rows
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace
from copilot_admin.transcripts.store.recorder import RunEvent
from protocol.json import Json, JsonObject


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
    rows = read_rows(conversation, tree, turns=turns, extent=extent)
    views = {}
    for place in tree.places:
        if turns is None or place.id in turns:
            views[place.id] = TurnView(
                place=place,
                history=tuple(rows.nodes[one] for one in place.history),
                question=rows.node(place.turn.human_node_id),
                runs=tuple(_run_view(run, rows) for run in rows.runs[place.id]),
                feedback=rows.feedback[place.id],
            )
    return views


def read_request(run_id: UUID) -> Json:
    """Return the request of a run without its messages and secrets; None if it isn't stored."""
    keys = Run.objects.filter(pk=run_id).values_list(*COLUMNS).first()
    return load_request(*keys) if keys else None


def make_event(event: RunEvent, order: int) -> Event:
    """Return an event of an answer that isn't stored yet, in the form of its future row."""
    return Event(
        ord=order,
        type=str(event.type),
        payload=event.payload,
        text_offset=event.text_offset,
        at_ms=event.at_ms,
    )


def _run_view(run: Run, rows: StoredRows) -> RunView:
    answer, call = rows.node(run.output_node_id), None
    if answer is not None and answer.kind != NodeKind.TEXT:
        call, before = answer, rows.node(answer.parent_id)
        answer = before if before is not None and before.pk != run.input_leaf_id else None
    running = rows.running.get(run.pk)
    if running is not None and running.events:
        events = [make_event(one, order) for order, one in enumerate(running.events)]
    else:
        events = rows.events.get(run.pk, [])
    return RunView(
        row=run,
        received=tuple([*_results_above(run, rows)][::-1]),
        answer=running.text if running else run.answer_text or (answer.text if answer else ""),
        echo_differs=bool(answer and answer.echo_differs),
        events=tuple(events),
        unread_events=rows.unread_events.get(run.pk, 0),
        call=_call_view(call, rows) if call else None,
    )


def _results_above(run: Run, rows: StoredRows) -> Iterator[Node]:
    node = rows.node(run.input_leaf_id)
    while node is not None and node.role == NodeRole.TOOL:
        yield node
        node = rows.node(node.parent_id)


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
        for place, attempt in reversed(list(enumerate(attempts))):
            calling = _find_calling_run(attempt, run)
            if calling is None:
                continue
            if calling == len(attempt) - 1:
                attempts[place] = (*attempt, run)
            else:
                attempts.append((*attempt[: calling + 1], run))
            break
        else:
            attempts.append((run,))
    return tuple(attempts)


def _find_calling_run(attempt: Attempt, run: RunView) -> int | None:
    brought = {message.pk for message in run.received}
    for place, earlier in reversed(list(enumerate(attempt))):
        if earlier.call and brought & {result.pk for result in earlier.call.results}:
            return place
    return None
