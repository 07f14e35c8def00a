"""Read the messages and the runs of a turn."""

from collections.abc import Iterator

from copilot_admin.models import Event, Node, NodeKind, NodeRole, Run
from copilot_admin.transcripts.queries.rows import StoredRows
from copilot_admin.transcripts.queries.views import (
    CallView,
    CostView,
    EventView,
    MessageView,
    RunView,
    UsageView,
)


def message_view(node: Node, rows: StoredRows) -> MessageView:
    """A stored message as a plain value."""
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


def run_view(run: Run, rows: StoredRows) -> RunView:
    """A run with its answer, and what it received and asked for."""
    answer, call = _replies(run, rows)
    running = rows.running.get(run.pk)
    text = run.answer_text or (answer.text if answer else "")
    return RunView(
        id=run.pk,
        outcome=run.outcome,
        version=run.copilot_version.number if run.copilot_version else None,
        provider=run.provider,
        model=run.model,
        generation=run.generation,
        params=run.params,
        started_at=run.started_at,
        ttft_ms=run.ttft_ms,
        ms=run.ms,
        usage=_usage(run),
        cost=_cost(run),
        finish_reason=run.finish_reason,
        error=run.error,
        error_code=run.error_code,
        notes=tuple(run.notes),
        received=tuple(message_view(node, rows) for node in _received(run, rows)),
        answer=running.text if running else text,
        echo_differs=bool(answer and answer.echo_differs),
        events=_running_events(run, rows) or _events(run, rows),
        unread_events=rows.unread_events.get(run.pk, 0),
        call=_call(call, rows) if call else None,
        has_request=run.env_id is not None,
    )


def _replies(run: Run, rows: StoredRows) -> tuple[Node | None, Node | None]:
    last = rows.nodes.get(run.output_node_id) if run.output_node_id is not None else None
    if last is None or last.kind == NodeKind.TEXT:
        return last, None
    before = rows.parent(last)
    wrote_before = before is not None and before.pk != run.input_leaf_id
    return (before if wrote_before else None), last


def _received(run: Run, rows: StoredRows) -> list[Node]:
    return list(reversed(list(_results_above(run, rows))))


def _results_above(run: Run, rows: StoredRows) -> Iterator[Node]:
    node = rows.nodes.get(run.input_leaf_id) if run.input_leaf_id is not None else None
    while node is not None and node.role == NodeRole.TOOL:
        yield node
        node = rows.parent(node)


def _call(node: Node, rows: StoredRows) -> CallView:
    data = rows.data(node) or {}
    arguments = data.get("input_arguments")
    return CallView(
        function=str(data.get("function", "")),
        arguments=arguments if isinstance(arguments, dict) else None,
        echo_differs=node.echo_differs,
        results=tuple(
            message_view(child, rows)
            for child in rows.children.get(node.pk, ())
            if child.kind == NodeKind.RESULT
        ),
    )


def _usage(run: Run) -> UsageView:
    return UsageView(
        input_tokens=run.input_tokens,
        cached_tokens=run.cached_tokens,
        output_tokens=run.output_tokens,
        reasoning_tokens=run.reasoning_tokens,
        source=run.usage_source,
    )


def _cost(run: Run) -> CostView:
    kinds = ("input", "cached", "output", "reasoning")
    prices = {kind: getattr(run, f"{kind}_price") for kind in kinds}
    return CostView(
        amount=run.cost,
        confidence=run.cost_confidence,
        prices={kind: price for kind, price in prices.items() if price is not None},
    )


def _events(run: Run, rows: StoredRows) -> tuple[EventView, ...]:
    return tuple(_event_view(event, rows) for event in rows.events.get(run.pk, ()))


def _event_view(event: Event, rows: StoredRows) -> EventView:
    return EventView(
        ord=event.ord,
        type=event.type,
        payload=rows.content(event.blob_id) if event.blob_id else event.payload,
        text_offset=event.text_offset,
        at_ms=event.at_ms,
    )


def _running_events(run: Run, rows: StoredRows) -> tuple[EventView, ...]:
    record = rows.running.get(run.pk)
    return tuple(
        EventView(
            ord=order,
            type=str(entry.type),
            payload=entry.payload,
            text_offset=entry.text_offset,
            at_ms=entry.at_ms,
        )
        for order, entry in enumerate(record.entries if record else ())
    )
