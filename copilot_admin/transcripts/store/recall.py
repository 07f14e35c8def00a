"""What the server remembers of a turn when the client comes back to it; reads the database."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from copilot_admin.agent.client.client_state import SIGNED_MEMORY
from copilot_admin.agent.values.engine_input import Memory, Recollection
from copilot_admin.models import Event, EventType, Node, NodeKind, Run
from copilot_admin.storage import blobs
from copilot_admin.transcripts.matching.attaching import AttachedRequest
from copilot_admin.transcripts.matching.message_store import parse_content
from copilot_admin.transcripts.store.requests import COLUMNS, load_request
from copilot_admin.transcripts.store.selection import selection_of
from protocol.json import Json, JsonObject, list_of
from protocol.models import Query, ResultMessage

# The client runs a call at once; who asks the same again so soon did not get or keep the result.
LOOP_WINDOW = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """An earlier run of the turn; the last two name the call it ended in, if it did."""

    id: UUID
    leaf_id: int | None
    started_at: datetime
    ms: int | None
    request: tuple[str | None, ...]
    call_id: int | None
    call_hash: str | None

    @property
    def ended_at(self) -> datetime:
        return self.started_at + timedelta(milliseconds=self.ms or 0)


def recollect(
    attached: AttachedRequest, query: Query, *, run_id: UUID, now: datetime
) -> Recollection:
    """Looks back from a run that was just attached."""
    earlier = [] if attached.is_new_turn else _earlier(attached, run_id)
    if not earlier:
        return Recollection(memory=_memory_of(query))
    calls = {run.call_hash: run.call_id for run in earlier if run.call_hash in attached.path}
    return Recollection(
        memory=_stored_memory(earlier[0]),
        client_calls=_functions(calls.values()),
        looped=_looped(earlier, attached.leaf_id, query, now=now),
        carried=_carried(earlier, attached.leaf_id) if _lacks_memory(query) else {},
    )


def _earlier(attached: AttachedRequest, run_id: UUID) -> list[_Earlier]:
    runs = Run.objects.filter(turn_id=attached.turn_id).exclude(pk=run_id).order_by("started_at")
    rows = runs.select_related("output_node").only(
        "input_leaf_id",
        "started_at",
        "ms",
        *COLUMNS,
        "output_node__chain_hash",
        "output_node__kind",
    )
    return list(map(_as_earlier, rows))


def _as_earlier(run: Run) -> _Earlier:
    last = run.output_node
    call = last if last is not None and last.kind == NodeKind.CALL else None
    return _Earlier(
        id=run.pk,
        leaf_id=run.input_leaf_id,
        started_at=run.started_at,
        ms=run.ms,
        request=tuple(getattr(run, column) for column in COLUMNS),
        call_id=call.pk if call else None,
        call_hash=call.chain_hash if call else None,
    )


def _functions(call_ids: Iterable[int | None]) -> Counter[str]:
    nodes = Node.objects.filter(pk__in=[id for id in call_ids if id is not None])
    rows = list(nodes.values_list("text", "blob_id"))
    big = blobs.load(sha for _, sha in rows if sha)
    calls = [big.get(sha) if sha else parse_content(text) for text, sha in rows]
    return Counter(
        str(call.get("function") or "") if isinstance(call, Mapping) else "" for call in calls
    )


def _looped(
    earlier: Sequence[_Earlier], leaf_id: int | None, query: Query, *, now: datetime
) -> bool:
    same = [run for run in earlier if run.leaf_id == leaf_id]
    if not same or same[-1].call_id is None or now - same[-1].ended_at >= LOOP_WINDOW:
        return False
    if Node.objects.filter(parent_id=same[-1].call_id, kind=NodeKind.RESULT).exists():
        return False
    env = _env(same[-1])
    return env is None or selection_of(env) == selection_of(query.env)


def _env(run: _Earlier) -> JsonObject | None:
    return load_request(*run.request)


def _lacks_memory(query: Query) -> bool:
    last = query.messages[-1]
    return isinstance(last, ResultMessage) and SIGNED_MEMORY not in last.extra_state


def _carried(earlier: Sequence[_Earlier], leaf_id: int | None) -> JsonObject:
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
    state = payload.get("extra_state") if isinstance(payload, Mapping) else None
    return state if isinstance(state, Mapping) else {}


def _memory_of(query: Query) -> Memory:
    return Memory(
        timezone=query.timezone,
        urls=query.urls,
        selected_skills=query.selected_skills,
        workspace_state=query.workspace_state,
    )


def _stored_memory(first: _Earlier) -> Memory | None:
    env = _env(first)
    if env is None:
        return None
    timezone, state = env.get("timezone"), env.get("workspace_state")
    return Memory(
        timezone=timezone if isinstance(timezone, str) else None,
        urls=tuple(url for url in list_of(env.get("urls")) if isinstance(url, str)),
        selected_skills=tuple(
            skill
            for skill in list_of(env.get("selected_skills"))
            if isinstance(skill, Mapping) and isinstance(skill.get("slug"), str)
        ),
        workspace_state=state if isinstance(state, Mapping) else {},
    )
