"""Find the conversation that a request continues, and the place in it; reads the database.

Source: docs/transcripts.md, rules 1 and 2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import F, QuerySet
from django.db.models.functions import Left

from copilot_admin.models import Conversation, Node
from copilot_admin.storage.sql import Row, fetch_row
from copilot_admin.transcripts.matching.chain import Chain, Link
from copilot_admin.transcripts.matching.ranking import most_alike
from copilot_admin.transcripts.matching.similarity import COMPARED
from copilot_admin.transcripts.matching.tree import MessageTree, Seen
from copilot_admin.transcripts.matching.walk import NOWHERE, AttachPoint, Walk
from protocol.canonical import CanonicalRole, Kind

LOOKED_UP = 1000  # newest messages of a request whose hashes are looked up
NEAR = 16  # stored messages around the place; a turn has at most 4 calls, hence 10 messages
LOADED = 5000  # newest messages of a conversation that are walked along
RANKED = 128  # stored answers to the same questions that are compared: 0.2 s where all are long

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
_SEEN = (
    "id", "conversation_id", "parent_id", "depth", "chain_hash", "client_hash", "from_history",
    "role", "kind",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnownConversation:
    """A stored conversation; `trace_id` is "" as long as the client gave none."""

    id: int
    trace_id: str


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation (None: there is none yet), the place in it, and the messages around it."""

    conversation: KnownConversation | None = None
    place: AttachPoint = NOWHERE
    tree: MessageTree = field(default_factory=lambda: MessageTree(()))


def find(
    chain: Chain, links: Sequence[Link], *, trace_id: str, user_id: int | None = None
) -> Found:
    """Finds where a request attaches.

    Args:
        chain: Of the caller and the copilot.
        links: The request's messages.
        trace_id: "" when the client gave none.
        user_id: Of the row of the user who asks; None: nobody named him.
    """
    if trace_id:
        row = _row_of_trace(chain, trace_id, user_id)
        if row is not None:
            return _place_in(KnownConversation(**row), chain, links)
    if _first_answer(links) is None:
        return Found()  # the same first words are no reason to join, whoever says them
    nodes = Node.objects.filter(conversation__trace_id="") if trace_id else Node.objects.all()
    return _by_hash(nodes, chain, links) or _by_client(nodes, chain, links) or Found()


def _row_of_trace(chain: Chain, trace_id: str, user_id: int | None) -> Row | None:
    """The chat that goes by a trace id; another user's of the same name is another chat."""
    return fetch_row(
        _BY_TRACE_WITHOUT_USER if user_id is None else _BY_TRACE_OF_USER,
        lock=Conversation._meta.db_table,
        copilot_id=chain.copilot_id,
        principal=chain.principal,
        trace_id=trace_id,
        user_id=user_id,
    )


def _place_in(conversation: KnownConversation, chain: Chain, links: Sequence[Link]) -> Found:
    hashes = {link.chain_hash: index for index, link in enumerate(links)}
    nodes = Node.objects.filter(conversation_id=conversation.id)
    near = _seen(_deepest(nodes, hashes)[:NEAR])
    place = _exact_place(near, hashes)
    if _is_certain(place, links):
        return Found(conversation, place, MessageTree(near))
    tree = MessageTree(_seen(nodes.order_by("-id")[:LOADED]))
    walk = Walk(tree, chain, strict=False)
    place = walk.follow(links, place)
    if place.used == 0 and len(links) > 1:
        place = walk.follow_shortened(links)
    return Found(conversation, place, tree)


def _by_hash(nodes: QuerySet[Node], chain: Chain, links: Sequence[Link]) -> Found | None:
    """Finds it by the deepest hash; an answer has to be in it, or the first words alone would join."""
    first = _first_answer(links) or 0
    hashes = {link.chain_hash: i for i, link in enumerate(links) if i >= first}
    deepest = _deepest(nodes, hashes).order_by("-depth", "-conversation__last_at")
    rows = _with_ours(_seen(deepest[:NEAR]))
    if not rows:
        return None
    place = _exact_place(rows, hashes)
    tips = [row for row in rows if row.depth == rows[0].depth]
    if place.used < len(links) and len(tips) > 1:
        tips = _childless_first(tips)
    if _is_certain(place, links):
        conversation = _locked(tips[0].conversation_id, chain)
        around = MessageTree(row for row in rows if row.conversation_id == tips[0].conversation_id)
        return (
            Found(conversation, AttachPoint(tips[0], place.used), around) if conversation else None
        )
    same = nodes.filter(conversation_id__in=_conversation_ids(tips))
    return _most_alike(same, chain, links, only=tips, strict=False)


def _by_client(nodes: QuerySet[Node], chain: Chain, links: Sequence[Link]) -> Found | None:
    """Finds it by what only the client wrote, where the answers came back in other words."""
    return _most_alike(nodes, chain, links, strict=True)


def _most_alike(
    nodes: QuerySet[Node],
    chain: Chain,
    links: Sequence[Link],
    *,
    only: Sequence[Seen] = (),
    strict: bool,
) -> Found | None:
    """The conversation whose answers are most like the request's; none where two are alike.

    Args:
        nodes: Stored messages of the conversations that come into question.
        chain: Of the caller and the copilot.
        links: The request's messages.
        only: Messages that are known of one conversation each, if more is known than its questions.
        strict: Accept an altered answer only if it is alike.
    """
    hashes = dict.fromkeys(link.client_hash for link in links if link.role is CanonicalRole.AI)
    answers = nodes.filter(client_hash__in=_newest(hashes), role=CanonicalRole.AI.value)
    rows = _seen(answers.order_by("-depth", "-id")[:RANKED])
    ids, is_complete = _conversation_ids(only), len(rows) < RANKED
    ours = _with_ours(rows)
    chosen = ids[0] if len(ids) == 1 else most_alike(ours, links, complete=is_complete)
    if chosen is None:
        return None
    tree = MessageTree(_seen(Node.objects.filter(conversation_id=chosen).order_by("-id")[:LOADED]))
    place = Walk(tree, chain, strict=strict).follow(links)
    conversation = _locked(chosen, chain) if place.answers else None
    return Found(conversation, place, tree) if conversation else None


def _first_answer(links: Sequence[Link]) -> int | None:
    """Where the first answer stands; what a client says in our name before any question is none."""
    is_asked = False
    for index, link in enumerate(links):
        is_asked = is_asked or link.role is CanonicalRole.HUMAN
        if link.role is CanonicalRole.AI and (is_asked or link.kind is Kind.CALL):
            return index
    return None


def _with_ours(rows: Sequence[Seen]) -> list[Seen]:
    """Those of the conversations of which something that was asked or answered here is among them.

    What clients bring along, such as a greeting, an example or a summary, many chats may begin with.
    """
    ours = {row.conversation_id for row in rows if not row.from_history}
    return [row for row in rows if row.conversation_id in ours]


def _is_certain(place: AttachPoint, links: Sequence[Link]) -> bool:
    """Whether only the client's next message remains, so that no walk is needed."""
    remaining = links[place.used :]
    if not remaining:
        return True
    if len(remaining) > 1:
        return False
    if remaining[0].role is CanonicalRole.HUMAN:
        return place.node is None or place.node.is_answer
    return place.node is not None and place.node.kind is Kind.CALL


def _exact_place(near: Sequence[Seen], hashes: dict[str, int]) -> AttachPoint:
    if not near:
        return AttachPoint()
    return AttachPoint(near[0], hashes[near[0].chain_hash] + 1)


def _deepest(nodes: QuerySet[Node], hashes: dict[str, int]) -> QuerySet[Node]:
    return nodes.filter(chain_hash__in=_newest(hashes)).order_by("-depth")


def _newest(hashes: Iterable[str]) -> list[str]:
    return list(hashes)[-LOOKED_UP:]


def _childless_first(tips: list[Seen]) -> list[Seen]:
    """Sorts the ends of chats from which nobody went on first; else they stay in their order."""
    ids = [tip.id for tip in tips]
    followed = set(Node.objects.filter(parent_id__in=ids).values_list("parent_id", flat=True))
    return sorted(tips, key=lambda tip: tip.id in followed)


def _conversation_ids(rows: Iterable[Seen]) -> list[int]:
    return list(dict.fromkeys(row.conversation_id for row in rows))


def _locked(conversation_id: int, chain: Chain) -> KnownConversation | None:
    """The conversation, kept from other processes until the commit."""
    row = fetch_row(
        _BY_ID, lock=Conversation._meta.db_table, id=conversation_id, principal=chain.principal
    )
    return KnownConversation(**row) if row is not None else None


def _seen(nodes: QuerySet[Node]) -> list[Seen]:
    rows = nodes.annotate(start=Left(F("text"), COMPARED)).values_list(*_SEEN, "start")
    return [
        Seen(*before, CanonicalRole(role), Kind(kind), text) for *before, role, kind, text in rows
    ]
