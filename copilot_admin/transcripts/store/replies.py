"""What a run answered, as messages of its conversation."""

from dataclasses import dataclass
from datetime import datetime

from copilot_admin.models import NodeKind, NodeRole
from copilot_admin.transcripts.matching.hash_chain import HashChain
from copilot_admin.transcripts.matching.message_store import StoredContent, insert_message
from copilot_admin.transcripts.store.keys import hash_key
from copilot_admin.transcripts.store.open_runs import Leaf, OpenRun
from copilot_admin.transcripts.store.sealed_contents import SealedContents
from copilot_admin.transcripts.store.sealing import Sealed, WrittenMessage


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """Where the answer is: in a node, or in the run itself if an earlier answer has the node."""

    node_id: int | None = None
    text: str = ""


def write_replies(
    run: OpenRun, conversation_id: int, sealed: Sealed, contents: SealedContents
) -> WrittenAnswer:
    """Hangs each reply under the one before it, the first under what the run read last."""
    in_clear = sealed.keep_content and not sealed.is_redacted
    chain = HashChain(hash_key(keep_content=in_clear), run.copilot_id, run.principal)
    leaf = run.leaf or Leaf(None, -1, chain.root, chain.root)
    answer_text = ""
    for reply, content in zip(sealed.replies, contents.replies, strict=True):
        leaf, text = _reply_node(
            reply, content, conversation_id, parent=leaf, chain=chain, at=sealed.ended_at
        )
        if reply.kind.value == NodeKind.TEXT and text != reply.text:
            answer_text = reply.text  # the node is an earlier answer that differs in space only
    return WrittenAnswer(leaf.id if sealed.replies else None, answer_text)


def _reply_node(
    reply: WrittenMessage,
    content: StoredContent,
    conversation_id: int,
    *,
    parent: Leaf,
    chain: HashChain,
    at: datetime,
) -> tuple[Leaf, str]:
    chain_hash = chain.extend(parent.chain_hash, bytes.fromhex(reply.digest))
    node_id, text = insert_message(
        conversation_id=conversation_id,
        chain_hash=chain_hash,
        parent_id=parent.id,
        depth=parent.depth + 1,
        role=NodeRole.AI,
        kind=NodeKind(reply.kind),
        text=content.text,
        blob_id=content.sha,
        client_hash=parent.client_hash,
        at=at,
    )
    return Leaf(node_id, parent.depth + 1, chain_hash, parent.client_hash), text
