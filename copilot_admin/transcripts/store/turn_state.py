"""State of a turn that the server restores when the client returns with a result."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from copilot_admin.agent.client.client_state import SIGNED_MEMORY
from copilot_admin.agent.values.answer_request import Memory, StoredTurn
from copilot_admin.models import Event, EventType, Node, NodeKind, Run
from copilot_admin.storage import blobs
from copilot_admin.transcripts.matching.matching import AttachedRequest
from copilot_admin.transcripts.matching.messages import (
    COLUMNS,
    FIELDS,
    load_request,
    parse_content,
)
from protocol.json import Json, JsonObject, list_of, object_of, objects_of
from protocol.models import Query, ResultMessage

# Clients run a call immediately; one that repeats the question so soon has lost the result.
LOOP_WINDOW = timedelta(seconds=60)


def load_turn_state(
    attached: AttachedRequest, query: Query, *, run_id: UUID, now: datetime
) -> StoredTurn:
    """Return the state that earlier runs of a turn left, for a run that was just attached."""
    runs = Run.objects.filter(turn_id=attached.turn_id).exclude(pk=run_id).order_by("started_at")
    nodes = (f"output_node__{name}" for name in ("kind", "chain_hash", "text", "blob"))
    runs = runs.select_related("output_node").only(
        "input_leaf", "started_at", "ms", *FIELDS, *nodes
    )
    earlier = [] if attached.is_new_turn else list(runs)
    if not earlier:
        memory = Memory(
            timezone=query.timezone,
            urls=query.urls,
            selected_skills=query.selected_skills,
            workspace_state=query.workspace_state,
        )
        return StoredTurn(memory=memory)
    by_hash = {call.chain_hash: call for run in earlier if (call := _call_of(run))}
    calls = [call for chain_hash, call in by_hash.items() if chain_hash in attached.path]
    big = blobs.load(call.blob_id for call in calls if call.blob_id)
    contents = [big.get(one.blob_id) if one.blob_id else parse_content(one.text) for one in calls]
    last = query.messages[-1]
    lacks_memory = isinstance(last, ResultMessage) and SIGNED_MEMORY not in last.extra_state
    return StoredTurn(
        memory=_memory_of_run(earlier[0]),
        client_calls=Counter(str(object_of(one).get("function") or "") for one in contents),
        is_retry_loop=_is_loop(earlier, attached.leaf_id, query, now=now),
        carried=_load_extra_state(earlier, attached.leaf_id) if lacks_memory else {},
    )


def _call_of(run: Run) -> Node | None:
    """Return the call that a run ended in."""
    node = run.output_node
    return node if node is not None and node.kind == NodeKind.CALL else None


def _is_loop(earlier: Sequence[Run], leaf_id: int | None, query: Query, *, now: datetime) -> bool:
    same = [run for run in earlier if run.input_leaf_id == leaf_id]
    call = _call_of(same[-1]) if same else None
    if call is None:
        return False
    ended_at = same[-1].started_at + timedelta(milliseconds=same[-1].ms or 0)
    if now - ended_at >= LOOP_WINDOW or call.children.filter(kind=NodeKind.RESULT).exists():
        return False
    env = _load_request(same[-1])
    return env is None or _context_of(env) == _context_of(query.env)


def _load_request(run: Run) -> JsonObject | None:
    return load_request(*(getattr(run, column) for column in COLUMNS))


def _load_extra_state(earlier: Sequence[Run], leaf_id: int | None) -> JsonObject:
    """Return the signed state of the answered call, which older clients don't repeat."""
    if leaf_id is None:
        return {}
    call_id = Node.objects.filter(pk=leaf_id).values_list("parent_id", flat=True).first()
    runs = [run.pk for run in earlier if (call := _call_of(run)) and call.pk == call_id]
    event = Event.objects.filter(run_id__in=runs[-1:], type=EventType.FUNCTION_CALL).first()
    if event is None:
        return {}
    payload = event.payload
    if event.blob_id is not None:
        payload = object_of(blobs.load([event.blob_id]).get(event.blob_id))
    return object_of(object_of(payload).get("extra_state"))


def _memory_of_run(first: Run) -> Memory | None:
    env = _load_request(first)
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


def _context_of(env: JsonObject) -> tuple[Json, Json, list[Json]]:
    """Return the context of a question: widgets, options, and ids of data, which has no images."""
    context = env.get("context")
    items = objects_of(context if isinstance(context, list) else [context])
    return env.get("widgets"), env.get("workspace_options"), [item.get("uuid") for item in items]
