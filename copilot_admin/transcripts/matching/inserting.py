"""Insert the messages of a request that are not stored yet; writes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from copilot_admin.models import Node
from copilot_admin.storage.many import InsertMany, reserve_ids
from copilot_admin.storage.statements import Insert, Row
from copilot_admin.transcripts.matching.chain import Chain, Link
from copilot_admin.transcripts.matching.content import StoredContent
from copilot_admin.transcripts.matching.tree import Seen
from protocol.canonical import CanonicalRole

_INSERT_NEWEST = Insert(
    Node, returning=("id",), or_existing=("conversation_id", "chain_hash"), large="text"
)
_INSERT_OLDER = InsertMany(
    Node,
    varying=(
        "id",
        "parent_id",
        "depth",
        "role",
        "kind",
        "agent",
        "text",
        "blob_id",
        "chain_hash",
        "client_hash",
    ),
)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that is about to be stored, with its place in the tree."""

    link: Link
    content: StoredContent
    depth: int
    chain_hash: str
    client_hash: str


def chained(
    messages: Iterable[tuple[Link, StoredContent]], *, chain: Chain, before: Seen | None
) -> Iterator[NewMessage]:
    """New messages with their hashes and depths, as they follow a stored one."""
    chain_hash = before.chain_hash if before else chain.root
    client_hash = before.client_hash if before else chain.root
    first = before.depth + 1 if before else 0
    for depth, (link, content) in enumerate(messages, start=first):
        chain_hash = chain.after(chain_hash, link.digest)
        if link.role is not CanonicalRole.AI:
            client_hash = chain.after(client_hash, link.digest)
        yield NewMessage(link, content, depth, chain_hash, client_hash)


def insert(
    new: Sequence[NewMessage], *, conversation_id: int, before: Seen | None, at: datetime
) -> list[Seen]:
    """Inserts messages, each under the one before; those that are there already are found.

    Nearly always only the newest one is new. The others are many when a long chat comes in whose
    beginning this server never saw.
    """
    if not new:
        return []
    *older, newest = new
    nodes = _insert_older(older, conversation_id=conversation_id, before=before, at=at)
    above = nodes[-1] if nodes else before
    row = _INSERT_NEWEST(
        conversation_id=conversation_id,
        parent_id=above.id if above else None,
        depth=newest.depth,
        role=newest.link.role.value,
        kind=newest.link.kind.value,
        agent=newest.content.agent,
        text=newest.content.text,
        blob_id=newest.content.sha,
        chain_hash=newest.chain_hash,
        client_hash=newest.client_hash,
        created_at=at,
    )
    assert row is not None  # noqa: S101  # the statement returns one
    return [*nodes, _seen(newest, int(row[0]), conversation_id, above, from_history=False)]


def _insert_older(
    older: Sequence[NewMessage], *, conversation_id: int, before: Seen | None, at: datetime
) -> list[Seen]:
    """Inserts the messages above the newest one, some hundreds in a statement.

    The conversation is locked: what is not there now is inserted by nobody else.
    """
    if not older:
        return []
    ids = _stored([new.chain_hash for new in older], conversation_id=conversation_id)
    missing = [new for new in older if new.chain_hash not in ids]
    reserved = reserve_ids(Node, len(missing))
    ids |= {new.chain_hash: one for new, one in zip(missing, reserved, strict=True)}
    nodes: list[Seen] = []
    for new in older:
        above = nodes[-1] if nodes else before
        nodes.append(_seen(new, ids[new.chain_hash], conversation_id, above, from_history=True))
    inserted = set(reserved)
    rows = [_row(node, new) for node, new in zip(nodes, older, strict=True) if node.id in inserted]
    _INSERT_OLDER(rows, conversation_id=conversation_id, from_history=True, created_at=at)
    return nodes


def _stored(hashes: Sequence[str], *, conversation_id: int) -> dict[str, int]:
    """The ids of those that are there; to ask for 2,000 takes 40 ms, and a new conversation has none."""
    nodes = Node.objects.filter(conversation_id=conversation_id)
    if not nodes.exists():
        return {}
    return dict(nodes.filter(chain_hash__in=hashes).values_list("chain_hash", "pk"))


def _row(node: Seen, new: NewMessage) -> Row:
    return (
        node.id,
        node.parent_id,
        node.depth,
        node.role.value,
        node.kind.value,
        new.content.agent,
        new.content.text,
        new.content.sha,
        node.chain_hash,
        node.client_hash,
    )


def _seen(
    new: NewMessage, id: int, conversation_id: int, above: Seen | None, *, from_history: bool
) -> Seen:
    return Seen(
        id=id,
        conversation_id=conversation_id,
        parent_id=above.id if above else None,
        depth=new.depth,
        chain_hash=new.chain_hash,
        client_hash=new.client_hash,
        from_history=from_history,
        role=new.link.role,
        kind=new.link.kind,
    )
