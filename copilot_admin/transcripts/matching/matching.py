"""Find the conversation that a request continues, and the stored message it follows.

The conversation is the one with the request's trace id; else the one with the longest exact chain of
its messages; else the only one with the same questions and results; else a new one.
Source: docs/transcripts.md, rules 1 and 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from copilot_admin.models import Conversation, Node, NodeRole
from copilot_admin.storage.sql import Row, fetch_row
from copilot_admin.transcripts.matching.messages import HashChain, HashedMessage
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


def is_question(message: Node) -> bool:
    return message.role == NodeRole.HUMAN


def walk_up(leaf: Node | None, loaded: Messages) -> Iterator[Node]:
    """Yield a message and those above it, the nearest first."""
    while leaf is not None:
        yield leaf
        leaf = loaded.get(leaf.parent_id) if leaf.parent_id is not None else None


@dataclass(frozen=True, slots=True)
class Match:
    """The place of a request; its conversation is locked until the commit.

    Attributes:
        leaf: The stored message that the new ones follow; None if they begin the conversation.
        used: Number of messages of the request that are already stored or irrelevant.
        altered: The client returned the answer or call of the leaf altered.
    """

    conversation_id: int | None = None
    leaf: Node | None = None
    used: int = 0
    nearby: Messages = field(default_factory=dict)
    altered: bool = False


def match_request(
    chain: HashChain, messages: Sequence[HashedMessage], *, trace_id: str, user_id: int | None
) -> Match:
    """Find the place at which a request continues a stored conversation; "" is no trace id."""
    row: Row | None = None
    if trace_id:  # the same trace id of another user is another conversation
        sql = _BY_TRACE_WITHOUT_USER if user_id is None else _BY_TRACE_OF_USER
        row = _lock_conversation(sql, chain, trace_id=trace_id, user_id=user_id)
    first_answer = _index_of_first_answer(messages)
    if row is None and first_answer is not None:  # the same first question isn't a reason to join
        nodes = Node.objects.filter(conversation__trace_id="") if trace_id else Node.objects.all()
        id = _find_by_chain(nodes, messages, first_answer) or _find_by_client(nodes, messages)
        row = _lock_conversation(_BY_ID, chain, id=id) if id is not None else None
    if row is None:
        return Match()
    leaf, used, nearby, altered = _find_place(row["id"], chain, messages)
    return Match(row["id"], leaf, used, nearby, altered)


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
    nearby = _load(
        nodes.filter(chain_hash__in=[*indexes][-MAX_HASHES:]).order_by("-depth")[:MAX_NEARBY]
    )
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
