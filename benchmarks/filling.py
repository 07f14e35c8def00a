"""Fills a journal with many conversations, straight into the tables."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b, sha256
from itertools import islice
import json
import zlib

from django.db import transaction

from copilot_admin.models import (
    Blob,
    BlobPart,
    Conversation,
    CopilotVersion,
    Event,
    Node,
    Outcome,
    Run,
    Turn,
)
from copilot_admin.storage.many import InsertMany, reserve_ids

START = datetime(2026, 1, 1, tzinfo=UTC)
# Conversations of one transaction: to make a thousand took a busy machine longer than PostgreSQL waits.
AT_ONCE = 200
TURNS = 2  # of a conversation; each is a question, an answer, a run and two events
WORDS = ("market", "price", "dividend", "bond", "yield", "earnings", "chart", "news", "rate", "oil")

_CONVERSATIONS = InsertMany(Conversation, varying=("id", "trace_id", "title", "last_outcome"))
_NODES = InsertMany(
    Node,
    varying=(
        "id",
        "conversation_id",
        "parent_id",
        "depth",
        "role",
        "text",
        "blob_id",
        "chain_hash",
        "client_hash",
    ),
)
_TURNS = InsertMany(Turn, varying=("id", "conversation_id", "human_node_id"))
_RUNS = InsertMany(
    Run,
    varying=("id", "conversation_id", "turn_id", "input_leaf_id", "output_node_id", "env_id"),
)
_EVENTS = InsertMany(Event, varying=("id", "run_id", "ord", "type"))
_PARTS = InsertMany(BlobPart, varying=("id", "whole_id", "part_id"))


def fill(version: CopilotVersion, conversations: int) -> None:
    """Adds finished conversations of two turns each; each run has a blob of two parts."""
    for start in range(0, conversations, AT_ONCE):
        with transaction.atomic():
            _fill_some(version, start, min(AT_ONCE, conversations - start))


def _fill_some(version: CopilotVersion, start: int, number: int) -> None:
    at = START + timedelta(seconds=start)
    ids = reserve_ids(Conversation, number)
    outcomes = [Outcome.FAILED if one % 50 == 0 else Outcome.COMPLETED for one in range(number)]
    titles = (" ".join(WORDS[(one // 7**k) % 10] for k in range(6)) for one in ids)
    _CONVERSATIONS(
        [
            (one, _hash("trace", one) if one % 2 else "", title, outcome.value)
            for one, title, outcome in zip(ids, titles, outcomes, strict=True)
        ],
        copilot_id=version.copilot_id,
        principal="anonymous",
        first_at=at,
        last_at=at,
        n_turns=TURNS,
        n_runs=TURNS,
    )
    turns = reserve_ids(Turn, number * TURNS)
    nodes = reserve_ids(Node, number * TURNS * 2)
    _fill_nodes(ids, nodes, at)
    questions, answers = nodes[::2], nodes[1::2]
    owners = [one for one in ids for _ in range(TURNS)]
    _TURNS(list(zip(turns, owners, questions, strict=True)), started_at=at, state="done")
    runs = [_hash("run", turn) for turn in turns]
    _RUNS(
        list(zip(runs, owners, turns, questions, answers, _blobs(turns), strict=True)),
        copilot_id=version.copilot_id,
        copilot_version_id=version.pk,
        principal="anonymous",
        started_at=at,
        heartbeat_at=at,
        outcome=Outcome.COMPLETED,
        boot_id="filling",
    )
    events = iter(reserve_ids(Event, len(runs) * 2))
    _EVENTS(
        [
            (event, run, order, kind)
            for run in runs
            for order, (event, kind) in enumerate(
                zip(islice(events, 2), ("status", "artifact"), strict=True)
            )
        ],
        payload={"message": "Reading the widget", "details": [{"rows": 40}] * 5},
    )


def _fill_nodes(conversations: list[int], ids: list[int], at: datetime) -> None:
    _NODES(list(_nodes(conversations, iter(ids))), kind="text", created_at=at)


def _nodes(conversations: list[int], ids: Iterator[int]) -> Iterator[tuple[object, ...]]:
    for conversation in conversations:
        above = None
        for depth, node in enumerate(islice(ids, TURNS * 2)):
            is_answer = depth % 2 == 1
            yield (
                node,
                conversation,
                above,
                depth,
                "ai" if is_answer else "human",
                "An answer of some length. " * 20 if is_answer else f"Question {node}?",
                None,
                _hash("chain", node),
                _hash("client", node - depth % 2),
            )
            above = node


def _blobs(turns: list[int]) -> list[str]:
    """Stores a blob for each turn, with a part of its own and one that all share."""
    shared = _blob("shared")
    wholes = [_blob(f"whole {turn}") for turn in turns]
    parts = [_blob(f"part {turn}") for turn in turns]
    Blob.objects.bulk_create([*wholes, *parts, shared], ignore_conflicts=True)
    edges = iter(reserve_ids(BlobPart, len(turns) * 2))
    rows = [
        (next(edges), whole.pk, other.pk)
        for whole, part in zip(wholes, parts, strict=True)
        for other in (part, shared)
    ]
    _PARTS(rows)
    return [whole.pk for whole in wholes]


def _blob(name: str) -> Blob:
    data = json.dumps({"name": name, "rows": list(range(300))}).encode()
    return Blob(sha256=sha256(data).hexdigest(), data=zlib.compress(data, 3), size=len(data))


def _hash(kind: str, number: int) -> str:
    return blake2b(f"{kind} {number}".encode(), digest_size=16).hexdigest()
