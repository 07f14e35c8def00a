"""State of a turn that the server remembers when the client comes back with a result."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
import json
from uuid import UUID

from copilot_admin.agent.client.client_state import SIGNED_MEMORY
from copilot_admin.agent.values.answer_request import Memory, StoredTurn
from copilot_admin.models import Event, EventType, Node, NodeKind, Run
from copilot_admin.storage import blobs
from copilot_admin.transcripts.matching.attaching import AttachedRequest
from copilot_admin.transcripts.matching.message_store import parse_content
from copilot_admin.transcripts.store.requests import COLUMNS, load_request
from protocol.fields import Notes
from protocol.json import Json, JsonObject, list_of, object_of, objects_of
from protocol.models import Query, ResultMessage
from protocol.parsing import parse_options, parse_widgets

# Clients run a call at once; one that asks the same again so soon did not get or keep the result.
LOOP_WINDOW = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class _EarlierRun:
    """An earlier run of the turn, and the call that it ended in."""

    id: UUID
    leaf_id: int | None
    started_at: datetime
    ended_at: datetime
    request: tuple[str | None, ...]
    call_id: int | None
    call_hash: str | None


def load_turn_state(
    attached: AttachedRequest, query: Query, *, run_id: UUID, now: datetime
) -> StoredTurn:
    """Return what earlier runs of a turn left, for a run that was just attached."""
    earlier = [] if attached.is_new_turn else _load_earlier_runs(attached, run_id)
    if not earlier:
        return StoredTurn(memory=_memory_of_query(query))
    calls = {run.call_hash: run.call_id for run in earlier if run.call_hash in attached.path}
    last = query.messages[-1]
    lacks_memory = isinstance(last, ResultMessage) and SIGNED_MEMORY not in last.extra_state
    return StoredTurn(
        memory=_memory_of_run(earlier[0]),
        client_calls=_count_functions(calls.values()),
        is_retry_loop=_is_loop(earlier, attached.leaf_id, query, now=now),
        carried=_load_extra_state(earlier, attached.leaf_id) if lacks_memory else {},
    )


def _load_earlier_runs(attached: AttachedRequest, run_id: UUID) -> list[_EarlierRun]:
    runs = Run.objects.filter(turn_id=attached.turn_id).exclude(pk=run_id).order_by("started_at")
    rows = runs.values_list(
        "pk", "input_leaf_id", "started_at", "ms", "output_node_id", "output_node__kind",
        "output_node__chain_hash", *COLUMNS,
    )  # fmt: skip
    return [
        _EarlierRun(
            id=id,
            leaf_id=leaf_id,
            started_at=started_at,
            ended_at=started_at + timedelta(milliseconds=ms or 0),
            request=tuple(request),
            call_id=node_id if kind == NodeKind.CALL else None,
            call_hash=chain_hash if kind == NodeKind.CALL else None,
        )
        for id, leaf_id, started_at, ms, node_id, kind, chain_hash, *request in rows
    ]


def _count_functions(call_ids: Iterable[int | None]) -> Counter[str]:
    nodes = Node.objects.filter(pk__in=[id for id in call_ids if id is not None])
    rows = list(nodes.values_list("text", "blob_id"))
    big = blobs.load(sha for _, sha in rows if sha)
    calls = [big.get(sha) if sha else parse_content(text) for text, sha in rows]
    return Counter(str(object_of(call).get("function") or "") for call in calls)


def _is_loop(
    earlier: Sequence[_EarlierRun], leaf_id: int | None, query: Query, *, now: datetime
) -> bool:
    same = [run for run in earlier if run.leaf_id == leaf_id]
    if not same or same[-1].call_id is None or now - same[-1].ended_at >= LOOP_WINDOW:
        return False
    if Node.objects.filter(parent_id=same[-1].call_id, kind=NodeKind.RESULT).exists():
        return False
    env = load_request(*same[-1].request)
    return env is None or request_fingerprint(env) == request_fingerprint(query.env)


def _load_extra_state(earlier: Sequence[_EarlierRun], leaf_id: int | None) -> JsonObject:
    """Return the signed state of the call whose result came, which older clients don't repeat."""
    if leaf_id is None:
        return {}
    call_id = Node.objects.filter(pk=leaf_id).values_list("parent_id", flat=True).first()
    runs = [run.id for run in earlier if run.call_id is not None and run.call_id == call_id]
    event = Event.objects.filter(run_id__in=runs[-1:], type=EventType.FUNCTION_CALL).first()
    if event is None:
        return {}
    payload: Json = event.payload
    if event.blob_id is not None:
        payload = blobs.load([event.blob_id]).get(event.blob_id)
    return object_of(object_of(payload).get("extra_state"))


def _memory_of_query(query: Query) -> Memory:
    return Memory(
        timezone=query.timezone,
        urls=query.urls,
        selected_skills=query.selected_skills,
        workspace_state=query.workspace_state,
    )


def _memory_of_run(first: _EarlierRun) -> Memory | None:
    env = load_request(*first.request)
    if env is None:
        return None
    timezone = env.get("timezone")
    skills = objects_of(env.get("selected_skills"))
    return Memory(
        timezone=timezone if isinstance(timezone, str) else None,
        urls=tuple(url for url in list_of(env.get("urls")) if isinstance(url, str)),
        selected_skills=tuple(skill for skill in skills if isinstance(skill.get("slug"), str)),
        workspace_state=object_of(env.get("workspace_state")),
    )


def request_fingerprint(env: JsonObject) -> frozenset[str]:
    """Return what a question is about besides its words: widgets, context and options.

    Args:
        env: The request without its messages.
    """
    notes = Notes()  # of a request that was read before
    widgets = parse_widgets(env.get("widgets"), notes=notes)
    offered = [
        (place, widget.ref, widget.input_args())
        for place, group in enumerate((widgets.primary, widgets.secondary, widgets.extra))
        for widget in group
    ]
    options = parse_options(env.get("workspace_options"), notes=notes).items()
    context = env.get("context")
    items = context if isinstance(context, list) else [context]
    ids = [item.get("uuid") for item in items if isinstance(item, Mapping)]
    parts: list[object] = [*offered, *options, *ids]
    return frozenset(json.dumps(part, sort_keys=True) for part in parts)
