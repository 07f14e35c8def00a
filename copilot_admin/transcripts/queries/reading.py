"""Conversations as turns in the order of the tree, each with its runs."""

from collections.abc import Collection, Iterator, Mapping
from uuid import UUID

from copilot_admin.models import Conversation, Event, Node, NodeKind, NodeRole, Run
from copilot_admin.transcripts.queries.rows import WHOLE, Extent, StoredRows, read_rows
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace
from copilot_admin.transcripts.queries.views import CallView, MessageView, RunView, TurnView
from copilot_admin.transcripts.store.requests import COLUMNS, load_request
from copilot_admin.transcripts.store.run_end import RunEvent
from protocol.json import Json


def read_turns(
    conversation: Conversation,
    tree: Tree,
    turns: Collection[int] | None = None,
    *,
    extent: Extent = WHOLE,
) -> Mapping[int, TurnView]:
    """Read turns of a conversation by id, in the order of the tree; other turns have no cost.

    The number of queries doesn't grow with the conversation. Without `turns` all are read.

    Raises:
        KeyError: A part of the conversation was deleted since the tree was read.
    """
    rows = read_rows(conversation, tree, turns=turns, extent=extent)
    return {
        place.id: _turn_view(place, rows)
        for place in tree.places
        if turns is None or place.id in turns
    }


def read_request(run_id: UUID) -> Json:
    """Return the request of a run without its messages and secrets; None if it isn't stored."""
    keys = Run.objects.filter(pk=run_id).values_list(*COLUMNS).first()
    return load_request(*keys) if keys else None


def _turn_view(place: TurnPlace, rows: StoredRows) -> TurnView:
    turn = place.turn
    question = rows.nodes.get(turn.human_node_id) if turn.human_node_id is not None else None
    return TurnView(
        place=place,
        history=tuple(_message_view(rows.nodes[one], rows) for one in place.history),
        question=_message_view(question, rows) if question else None,
        runs=tuple(_run_view(run, rows) for run in rows.runs[turn.pk]),
        feedback=rows.feedback[turn.pk],
    )


def _message_view(node: Node, rows: StoredRows) -> MessageView:
    is_text = node.kind == NodeKind.TEXT
    return MessageView(
        node_id=node.pk,
        role=node.role,
        kind=node.kind,
        text=node.text if is_text else "",
        data=None if is_text else rows.data(node),
        agent=node.agent,
        from_history=node.from_history,
        echo_differs=node.echo_differs,
        created_at=node.created_at,
    )


def _run_view(run: Run, rows: StoredRows) -> RunView:
    answer, call = _find_output(run, rows)
    running = rows.running.get(run.pk)
    text = run.answer_text or (answer.text if answer else "")
    return RunView(
        row=run,
        received=tuple(_message_view(node, rows) for node in [*_results_above(run, rows)][::-1]),
        answer=running.text if running else text,
        echo_differs=bool(answer and answer.echo_differs),
        events=_events(run, rows),
        unread_events=rows.unread_events.get(run.pk, 0),
        call=_call_view(call, rows) if call else None,
    )


def _find_output(run: Run, rows: StoredRows) -> tuple[Node | None, Node | None]:
    last = rows.nodes.get(run.output_node_id) if run.output_node_id is not None else None
    if last is None or last.kind == NodeKind.TEXT:
        return last, None
    before = rows.parent(last)
    is_own = before is not None and before.pk != run.input_leaf_id
    return (before if is_own else None), last


def _results_above(run: Run, rows: StoredRows) -> Iterator[Node]:
    node = rows.nodes.get(run.input_leaf_id) if run.input_leaf_id is not None else None
    while node is not None and node.role == NodeRole.TOOL:
        yield node
        node = rows.parent(node)


def _call_view(node: Node, rows: StoredRows) -> CallView:
    data = rows.data(node) or {}
    arguments = data.get("input_arguments")
    return CallView(
        function=str(data.get("function", "")),
        arguments=arguments if isinstance(arguments, dict) else None,
        echo_differs=node.echo_differs,
        results=tuple(
            _message_view(child, rows)
            for child in rows.children.get(node.pk, ())
            if child.kind == NodeKind.RESULT
        ),
    )


def _events(run: Run, rows: StoredRows) -> tuple[Event, ...]:
    record = rows.running.get(run.pk)
    if record is not None and record.events:
        return tuple(make_event(one, order) for order, one in enumerate(record.events))
    events = rows.events.get(run.pk, ())
    for event in events:
        if event.blob_id:
            event.payload = rows.content(event.blob_id)
    return tuple(events)


def make_event(event: RunEvent, order: int) -> Event:
    """Return an event of an answer that isn't stored yet, in the form of its future row."""
    return Event(
        ord=order,
        type=str(event.type),
        payload=event.payload,
        text_offset=event.text_offset,
        at_ms=event.at_ms,
    )
