"""Find the conversation that a request continues, and the stored message it follows.

The conversation is the one with the request's trace id; else the one with the longest exact chain of
its messages; else the only one with the same questions and results; else a new one.
Source: docs/transcripts.md, rules 1 and 2.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from copilot_admin.models import Conversation, Node
from copilot_admin.storage.sql import Row, fetch_row
from copilot_admin.transcripts.matching.hash_chain import HashChain, HashedMessage
from protocol.canonical import CanonicalRole, Kind

MAX_HASHES = 1000  # newest messages of a request whose hashes are looked up
MAX_NEARBY = 16  # stored messages read above the place; a turn has at most 4 calls: 10 messages
MAX_LOADED = 5000  # newest messages of a conversation that are compared by the client's chain

# The condition that no trace id is empty lets SQLite use the partial index.
_BY_TRACE = """
SELECT id, trace_id FROM copilot_admin_conversation
WHERE copilot_id = %(copilot_id)s AND principal = %(principal)s AND trace_id = %(trace_id)s
    AND NOT (trace_id = '')
"""
_BY_TRACE_WITHOUT_USER = f"{_BY_TRACE} AND user_id IS NULL"
_BY_TRACE_OF_USER = f"{_BY_TRACE} AND user_id = %(user_id)s"
# The caller is in the hashes already; a conversation that is being erased has none any more.
_BY_ID = """
SELECT id, trace_id FROM copilot_admin_conversation
WHERE id = %(id)s AND principal = %(principal)s
"""
_COLUMNS = (
    "id", "conversation_id", "parent_id", "depth", "chain_hash", "client_hash", "from_history",
    "role", "kind",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A stored message without its content."""

    id: int
    conversation_id: int
    parent_id: int | None
    depth: int
    chain_hash: str
    client_hash: str
    from_history: bool
    role: CanonicalRole
    kind: Kind

    @property
    def is_question(self) -> bool:
        return self.role is CanonicalRole.HUMAN

    @property
    def is_answer(self) -> bool:
        return self.role is CanonicalRole.AI and self.kind is Kind.TEXT


class MessageTree:
    """Messages of one conversation, as far as they were loaded."""

    def __init__(self, messages: Iterable[StoredMessage] = ()) -> None:
        self.messages = {message.id: message for message in messages}

    def parent(self, message: StoredMessage) -> StoredMessage | None:
        return self.messages.get(message.parent_id) if message.parent_id is not None else None

    def path(self, leaf: StoredMessage | None) -> Iterator[StoredMessage]:
        """Yield a message and those above it, the nearest first."""
        while leaf is not None:
            yield leaf
            leaf = self.parent(leaf)


def has_sibling_question(message: StoredMessage) -> bool:
    """Return True if another question was asked at the place of this message."""
    siblings = Node.objects.filter(
        conversation_id=message.conversation_id, parent_id=message.parent_id, role="human"
    )
    return siblings.exclude(pk=message.id).exists()


@dataclass(frozen=True, slots=True)
class Match:
    """The place of a request; its conversation is locked until the commit.

    Attributes:
        conversation_id: None if the request begins one.
        trace_id: Of the conversation; "" if its client gave none.
        leaf: The stored message that the new ones follow; None if they begin the conversation.
        used: Number of messages of the request that are stored already, or need not be.
        tree: Stored messages around the place.
        altered: The leaf is an answer or call that came back altered.
    """

    conversation_id: int | None = None
    trace_id: str = ""
    leaf: StoredMessage | None = None
    used: int = 0
    tree: MessageTree = field(default_factory=MessageTree)
    altered: bool = False


def match_request(
    chain: HashChain, messages: Sequence[HashedMessage], *, trace_id: str, user_id: int | None
) -> Match:
    """Find where a request continues what is stored.

    Args:
        chain: Of the caller and the copilot.
        messages: Of the request.
        trace_id: "" if the client gave none.
        user_id: Row of the end user; None if the request names none.
    """
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
    leaf, used, tree, altered = _find_place(row["id"], chain, messages)
    return Match(row["id"], row["trace_id"], leaf, used, tree, altered)


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

    The conversation has to know something that was asked or answered here: many conversations may
    begin with the same greeting, example or summary.
    """
    indexes = {message.chain_hash: i for i, message in enumerate(messages) if i >= first_answer}
    same = nodes.filter(chain_hash__in=_newest(indexes))
    rows = _load(same.order_by("-depth", "-conversation__last_at")[:MAX_NEARBY])
    asked_here = {row.conversation_id for row in rows if not row.from_history}
    rows = [row for row in rows if row.conversation_id in asked_here]
    tips = [row for row in rows if row.depth == rows[0].depth]
    if len(tips) > 1:
        remaining = messages[indexes[tips[0].chain_hash] + 1 :]
        if not _is_conclusive(tips[0], remaining):
            return None
        if remaining:  # prefer a conversation that nobody continued
            followed = Node.objects.filter(parent_id__in=[tip.id for tip in tips])
            parents = set(followed.values_list("parent_id", flat=True))
            tips.sort(key=lambda tip: tip.id in parents)
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
) -> tuple[StoredMessage | None, int, MessageTree, bool]:
    indexes = {message.chain_hash: index for index, message in enumerate(messages)}
    nodes = Node.objects.filter(conversation_id=conversation_id)
    nearby = _load(nodes.filter(chain_hash__in=_newest(indexes)).order_by("-depth")[:MAX_NEARBY])
    leaf = nearby[0] if nearby else None
    used = indexes[leaf.chain_hash] + 1 if leaf else 0
    if not _is_conclusive(leaf, messages[used:]):
        tree = MessageTree(_load(nodes.order_by("-id")[:MAX_LOADED]))
        for index in range(len(messages) - 2, used - 1, -1):
            found = _find_by_client_hash(messages[index], tree)
            if found and messages[index + 1].role is not CanonicalRole.AI:
                exact = [one for one in found if _has_digest(one, messages[index], tree, chain)]
                leaf = max(exact or found, key=lambda one: one.id)
                is_copy = messages[index].role is leaf.role is CanonicalRole.AI
                return leaf, index + 1, tree, is_copy and not exact
    return leaf, used, MessageTree(nearby), False


def _find_by_client_hash(message: HashedMessage, tree: MessageTree) -> list[StoredMessage]:
    kind = Kind.CALL if message.kind is Kind.CALL else Kind.TEXT
    same = [one for one in tree.messages.values() if one.client_hash == message.client_hash]
    answers = [one for one in same if one.role is CanonicalRole.AI and one.kind is kind]
    if answers or message.kind is not Kind.TEXT:
        return answers
    return [one for one in same if one.is_question and not one.from_history]


def _has_digest(
    one: StoredMessage, message: HashedMessage, tree: MessageTree, chain: HashChain
) -> bool:
    parent = tree.parent(one)
    if parent is None and one.parent_id is not None:
        return False  # the parent wasn't loaded
    before = parent.chain_hash if parent else chain.root
    return chain.extend(before, message.digest) == one.chain_hash


def _is_conclusive(leaf: StoredMessage | None, remaining: Sequence[HashedMessage]) -> bool:
    if not remaining:
        return True
    if remaining[0].role is CanonicalRole.HUMAN:
        return leaf is None or leaf.is_answer
    return leaf is not None and leaf.kind is Kind.CALL and remaining[0].kind is Kind.RESULT


def _newest(hashes: Iterable[str]) -> list[str]:
    return list(hashes)[-MAX_HASHES:]


def _load(nodes: QuerySet[Node]) -> list[StoredMessage]:
    rows: Iterable[Any] = nodes.values_list(*_COLUMNS)
    return [StoredMessage(*[*row, CanonicalRole(role), Kind(kind)]) for *row, role, kind in rows]
