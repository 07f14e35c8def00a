"""Find the conversation that a request continues, and store its new messages behind the one it follows.

The conversation is the one with the request's trace id; else the one with the longest exact chain of
its messages; else the only one with the same questions and results; else a new one.
Source: docs/transcripts.md, rules 1, 2, 4, 5, 6 and 9.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import OperationalError
from django.db.models import QuerySet

from copilot_admin.models import Conversation, Node, NodeRole, Turn
from copilot_admin.storage import blobs
from copilot_admin.storage.sql import Row, fetch_row
from copilot_admin.transcripts.matching.messages import (
    NO_CONTENT,
    HashChain,
    HashedMessage,
    insert_message,
    serialize_message,
)
from copilot_admin.transcripts.matching.requests import AttachedRequest, PreparedRun
from protocol.canonical import CanonicalRole, Kind

MAX_HASHES = 1000  # newest messages of a request whose hashes are queried
MAX_NEARBY = 16  # stored messages read above the place; a turn has at most 4 calls: 10 messages
MAX_LOADED = 5000  # newest messages of a conversation that are compared by the client's chain

# The condition that the trace id is not empty lets SQLite use the partial index.
_BY_TRACE = """
SELECT id FROM copilot_admin_conversation
WHERE copilot_id = %(copilot_id)s AND principal = %(principal)s AND trace_id = %(trace_id)s
    AND NOT (trace_id = '')
"""
_BY_TRACE_WITHOUT_USER = f"{_BY_TRACE} AND user_id IS NULL"
_BY_TRACE_OF_USER = f"{_BY_TRACE} AND user_id = %(user_id)s"
# The hashes include the caller. A conversation that is being erased has no hashes left.
_BY_ID = """
SELECT id FROM copilot_admin_conversation
WHERE id = %(id)s AND principal = %(principal)s
"""
_COLUMNS = (
    "id", "conversation_id", "parent_id", "depth", "chain_hash", "client_hash", "from_history",
    "role", "kind",
)  # fmt: skip


Messages = Mapping[int, Node]  # loaded messages of one conversation by id
# If another process was faster, nothing is inserted, and the existing row is returned.
_INSERT_CONVERSATION = """
INSERT INTO copilot_admin_conversation (
    copilot_id, principal, user_id, origin, trace_id, title, first_at, last_at, n_turns, n_runs,
    tokens, cost, n_unpriced, cost_is_estimated, last_outcome, has_error, has_branch, has_call,
    has_file, n_up, n_down, review_state
) VALUES (
    %(copilot_id)s, %(principal)s, %(user_id)s, %(origin)s, %(trace_id)s, %(title)s, %(at)s, %(at)s,
    1, 1, 0, 0, 0, FALSE, 'running', FALSE, FALSE, FALSE, FALSE, 0, 0, 'new'
) ON CONFLICT DO NOTHING RETURNING id
"""
_INSERT_TURN = """
INSERT INTO copilot_admin_turn (
    conversation_id, human_node_id, state, started_at, tokens, cost, n_unpriced, cost_is_estimated, ms
) VALUES (%(conversation_id)s, %(human_node_id)s, 'open', %(at)s, 0, 0, 0, FALSE, 0)
ON CONFLICT DO NOTHING RETURNING id
"""


def is_question(message: Node) -> bool:
    return message.role == NodeRole.HUMAN


@dataclass(frozen=True, slots=True)
class Match:
    """The place of a request; its conversation is locked until the commit."""

    conversation_id: int | None = None
    leaf: Node | None = None  # the stored message that the new ones follow
    used: int = 0  # messages of the request that are already stored or irrelevant
    nearby: Messages = field(default_factory=dict)
    altered: bool = False  # the client returned the answer or call of the leaf altered


def match_request(request: PreparedRun) -> Match:
    """Find the place at which a request continues a stored conversation."""
    row: Row | None = None
    chain, messages, trace_id = request.chain, request.messages, request.start.trace_id
    if trace_id:  # the same trace id of another user is another conversation
        sql = _BY_TRACE_WITHOUT_USER if request.user_id is None else _BY_TRACE_OF_USER
        row = _lock_conversation(sql, chain, trace_id=trace_id, user_id=request.user_id)
    first_answer = _index_of_first_answer(messages)
    if row is None and first_answer is not None:  # the same first question isn't a reason to join
        nodes = Node.objects.filter(conversation__trace_id="") if trace_id else Node.objects.all()
        id = _find_by_chain(nodes, messages, first_answer) or _find_by_client(nodes, messages)
        row = _lock_conversation(_BY_ID, chain, id=id) if id is not None else None
    if row is None:
        return Match()
    return Match(row["id"], *_find_place(row["id"], chain, messages))


def _lock_conversation(sql: str, chain: HashChain, **values: object) -> Row | None:
    return fetch_row(
        sql,
        lock=Conversation._meta.db_table,
        copilot_id=chain.copilot_id,
        principal=chain.principal,
        **values,
    )


def _index_of_first_answer(messages: Sequence[HashedMessage]) -> int | None:
    is_asked = False
    for index, message in enumerate(messages):
        is_asked = is_asked or message.role is CanonicalRole.HUMAN
        if message.role is CanonicalRole.AI and (is_asked or message.kind is Kind.CALL):
            return index
    return None


def _find_by_chain(
    nodes: QuerySet[Node], messages: Sequence[HashedMessage], first_answer: int
) -> int | None:
    """Return the id of the conversation with the longest exact chain that reaches an answer.

    A question or answer of this server must be part of the match: many conversations may begin with
    the same greeting, example or summary.
    """
    indexes = {message.chain_hash: i for i, message in enumerate(messages) if i >= first_answer}
    same = nodes.filter(chain_hash__in=[*indexes][-MAX_HASHES:])
    rows = _load(same.order_by("-depth", "-conversation__last_at")[:MAX_NEARBY])
    asked_here = {row.conversation_id for row in rows if not row.from_history}
    rows = [row for row in rows if row.conversation_id in asked_here]
    tips = [row for row in rows if row.depth == rows[0].depth]
    if len(tips) > 1:
        remaining = messages[indexes[tips[0].chain_hash] + 1 :]
        if not _is_conclusive(tips[0], remaining):
            return None
        if remaining:  # prefer a conversation without a continuation
            followed = Node.objects.filter(parent_id__in=[tip.pk for tip in tips])
            parents = set(followed.values_list("parent_id", flat=True))
            tips.sort(key=lambda tip: tip.pk in parents)
    return tips[0].conversation_id if tips else None


def _find_by_client(nodes: QuerySet[Node], messages: Sequence[HashedMessage]) -> int | None:
    last = messages[-2] if len(messages) > 1 else messages[-1]
    answers = nodes.filter(
        client_hash=last.client_hash, role="ai", kind=last.kind.value, from_history=False
    )
    ids = answers.order_by().values_list("conversation_id", flat=True).distinct()[:2]
    return ids[0] if len(ids) == 1 else None


def _find_place(
    conversation_id: int, chain: HashChain, messages: Sequence[HashedMessage]
) -> tuple[Node | None, int, Messages, bool]:
    indexes = {message.chain_hash: index for index, message in enumerate(messages)}
    nodes = Node.objects.filter(conversation_id=conversation_id)
    same = nodes.filter(chain_hash__in=[*indexes][-MAX_HASHES:])
    nearby = _load(same.order_by("-depth")[:MAX_NEARBY])
    leaf = nearby[0] if nearby else None
    used = indexes[leaf.chain_hash] + 1 if leaf else 0
    if not _is_conclusive(leaf, messages[used:]):
        loaded = {one.pk: one for one in _load(nodes.order_by("-id")[:MAX_LOADED])}
        for index in range(len(messages) - 2, used - 1, -1):
            found = _find_by_client_hash(messages[index], loaded)
            if found and messages[index + 1].role is not CanonicalRole.AI:
                exact = [one for one in found if _has_digest(one, messages[index], loaded, chain)]
                leaf = max(exact or found, key=lambda one: one.pk)
                is_copy = messages[index].role == leaf.role == CanonicalRole.AI
                return leaf, index + 1, loaded, is_copy and not exact
    return leaf, used, {one.pk: one for one in nearby}, False


def _find_by_client_hash(message: HashedMessage, loaded: Messages) -> list[Node]:
    kind = Kind.CALL if message.kind is Kind.CALL else Kind.TEXT
    same = [one for one in loaded.values() if one.client_hash == message.client_hash]
    answers = [one for one in same if one.role == NodeRole.AI and one.kind == kind]
    if answers or message.kind is not Kind.TEXT:
        return answers
    return [one for one in same if is_question(one) and not one.from_history]


def _has_digest(one: Node, message: HashedMessage, loaded: Messages, chain: HashChain) -> bool:
    above = loaded.get(one.parent_id) if one.parent_id is not None else None
    if one.parent_id is not None and above is None:
        return False
    before = above.chain_hash if above else chain.root
    return chain.extend(before, message.digest) == one.chain_hash


def _is_conclusive(leaf: Node | None, remaining: Sequence[HashedMessage]) -> bool:
    if not remaining:
        return True
    if remaining[0].role is CanonicalRole.HUMAN:
        return leaf is None or (leaf.role == NodeRole.AI and leaf.kind == Kind.TEXT)
    return leaf is not None and leaf.kind == Kind.CALL and remaining[0].kind is Kind.RESULT


def _load(nodes: QuerySet[Node]) -> list[Node]:
    """Return messages without their content."""
    return list(nodes.only(*_COLUMNS))


def attach_request(request: PreparedRun) -> AttachedRequest:
    match, conversation_id, is_new = _open_conversation(request)
    new = _insert_messages(conversation_id, match, request)
    if match.leaf is not None and match.altered:
        Node.objects.filter(pk=match.leaf.pk, echo_differs=False).update(echo_differs=True)
    leaf = new[-1] if new else match.leaf
    path, above = new[::-1], match.leaf
    while above is not None:
        path.append(above)
        above = match.nearby.get(above.parent_id) if above.parent_id is not None else None
    turn_id, is_new_turn = _open_turn(conversation_id, path, new, request)
    is_branch = False
    if not is_new and is_new_turn and new and is_question(new[0]):
        questions = Node.objects.filter(conversation_id=conversation_id, role="human")
        same_place = questions.filter(parent_id=new[0].parent_id)
        is_branch = same_place.exclude(pk=new[0].pk).exists()
    return AttachedRequest(
        conversation_id=conversation_id,
        turn_id=turn_id,
        is_new=is_new,
        leaf_id=leaf.pk if leaf else None,
        path=frozenset(one.chain_hash for one in path).union(
            one.chain_hash for one in request.messages
        ),
        is_new_turn=is_new_turn,
        is_branch=is_branch,
    )


def _open_conversation(request: PreparedRun) -> tuple[Match, int, bool]:
    match = match_request(request)
    if match.conversation_id is None:
        row = fetch_row(
            _INSERT_CONVERSATION,
            copilot_id=request.chain.copilot_id,
            principal=request.chain.principal,
            user_id=request.user_id,
            origin=request.start.origin,
            trace_id=request.start.trace_id or "",
            title=request.title,
            at=request.start.started_at,
        )
        if row is not None:
            return match, row["id"], True
        match = match_request(request)
    if match.conversation_id is None:  # another process inserted it and deleted it again
        raise OperationalError("a conversation is there, and not found")
    return match, match.conversation_id, False


def _insert_messages(conversation_id: int, match: Match, request: PreparedRun) -> list[Node]:
    chain, above, new = request.chain, match.leaf, list[Node]()
    newest = len(request.messages) - 1
    contents = dict.fromkeys(range(match.used, newest + 1), NO_CONTENT)
    for index in contents if request.start.keeps_content else ():
        message = request.messages[index]
        contents[index] = request.newest if index == newest else serialize_message(message.message)
    blobs.save(content.blob for content in contents.values() if content.blob)
    for index, content in contents.items():
        message = request.messages[index]
        client_hash = above.client_hash if above else chain.root
        if message.role is not CanonicalRole.AI:
            client_hash = chain.extend(client_hash, message.digest)
        values: dict[str, Any] = {
            "conversation_id": conversation_id,
            "parent_id": above.pk if above else None,
            "depth": above.depth + 1 if above else 0,
            "chain_hash": chain.extend(above.chain_hash if above else chain.root, message.digest),
            "client_hash": client_hash,
            "from_history": index < newest,
            "role": message.role,
            "kind": message.kind,
        }
        id, _ = insert_message(
            **values,
            agent=content.agent,
            text=content.text,
            blob_id=content.sha,
            at=request.start.started_at,
        )
        above = Node(id=id, **values)
        new.append(above)
    return new


def _open_turn(
    conversation_id: int, path: Sequence[Node], new: Sequence[Node], request: PreparedRun
) -> tuple[int, bool]:
    question_id = next((message.pk for message in path if is_question(message)), None)
    if question_id is None:
        hashes = [one.chain_hash for one in request.messages if one.role is CanonicalRole.HUMAN]
        asked = Node.objects.filter(conversation_id=conversation_id, chain_hash__in=hashes[-1:])
        question_id = asked.values_list("pk", flat=True).first()
    turns = Turn.objects.filter(conversation_id=conversation_id, human_node_id=question_id)
    ids = turns.order_by("-id").values_list("pk", flat=True)
    is_new = any(message.pk == question_id for message in new)
    turn_id = None if is_new else ids.first()
    if turn_id is not None:
        return turn_id, False
    row = fetch_row(
        _INSERT_TURN,
        conversation_id=conversation_id,
        human_node_id=question_id,
        at=request.start.started_at,
    )
    if row is not None:
        return row["id"], True
    turn_id = ids.first()
    if turn_id is None:  # another process inserted it and deleted it again
        raise OperationalError("a turn is there, and not found")
    return turn_id, False
