"""Insert the messages of a request that are not stored yet; writes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from copilot_admin.storage.sql import fetch_row
from copilot_admin.transcripts.matching.chain import Chain, Link
from copilot_admin.transcripts.matching.content import StoredContent
from copilot_admin.transcripts.matching.tree import Seen
from protocol.canonical import CanonicalRole

_INSERT = """
INSERT INTO copilot_admin_node (
    conversation_id, parent_id, depth, role, kind, agent, text, blob_id, chain_hash, client_hash,
    echo_differs, from_history, created_at
) VALUES (
    %(conversation_id)s, %(parent_id)s, %(depth)s, %(role)s, %(kind)s, %(agent)s, %(text)s,
    %(blob_id)s, %(chain_hash)s, %(client_hash)s, FALSE, %(from_history)s, %(at)s
) ON CONFLICT (conversation_id, chain_hash) DO UPDATE SET depth = copilot_admin_node.depth
RETURNING id, text
"""


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
    """Store new messages, each under the one before; all but the newest come from the client's history."""
    nodes: list[Seen] = []
    for message in new:
        above = nodes[-1] if nodes else before
        from_history = message is not new[-1]
        node_id, _ = insert_node(
            conversation_id=conversation_id,
            parent_id=above.id if above else None,
            depth=message.depth,
            role=message.link.role,
            kind=message.link.kind,
            agent=message.content.agent,
            text=message.content.text,
            blob_id=message.content.sha,
            chain_hash=message.chain_hash,
            client_hash=message.client_hash,
            from_history=from_history,
            at=at,
        )
        nodes.append(_seen(message, node_id, conversation_id, above, from_history=from_history))
    return nodes


def insert_node(**values: object) -> tuple[int, str]:
    """Store a message unless its conversation has it; return the id and text of the stored one."""
    row = fetch_row(_INSERT, **{"agent": "", "from_history": False, **values})
    assert row is not None  # noqa: S101  # the statement returns one
    return row["id"], row["text"]


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
