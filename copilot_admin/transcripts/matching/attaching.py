"""Store new messages of a request in the conversation and turn that it continues.

Source: docs/transcripts.md, rules 4, 5, 6 and 9.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import OperationalError

from copilot_admin.models import Node, Turn
from copilot_admin.storage import blobs
from copilot_admin.storage.sql import fetch_row
from copilot_admin.transcripts.matching.matching import (
    Match,
    is_question,
    match_request,
    walk_up,
)
from copilot_admin.transcripts.matching.messages import (
    NO_CONTENT,
    HashChain,
    HashedMessage,
    StoredContent,
    insert_message,
    serialize_message,
)
from protocol.canonical import CanonicalRole

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMessages:
    """The messages of a request, prepared outside of the transaction.

    `newest` is the content of the last message, which is nearly always the only new one.
    """

    chain: HashChain
    messages: Sequence[HashedMessage]
    trace_id: str
    title: str
    keep_content: bool
    newest: StoredContent
    at: datetime
    user_id: int | None = None
    origin: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedRequest:
    """The conversation and turn of a request whose new messages are stored.

    Attributes:
        leaf_id: The stored last message of the request.
        path: Hashes of the stored messages that lead to the leaf, and maybe of others.
        is_branch: The conversation already has another question at its place.
    """

    conversation_id: int
    turn_id: int
    is_new: bool
    leaf_id: int | None
    path: frozenset[str]
    is_new_turn: bool
    is_branch: bool


def attach_request(request: PreparedMessages) -> AttachedRequest:
    match, conversation_id, is_new = _open_conversation(request)
    new = _insert_messages(conversation_id, match, request)
    if match.leaf is not None and match.altered:
        Node.objects.filter(pk=match.leaf.pk, echo_differs=False).update(echo_differs=True)
    leaf = new[-1] if new else match.leaf
    path = [*reversed(new), *walk_up(match.leaf, match.nearby)]
    turn_id, is_new_turn = _open_turn(conversation_id, path, new, request)
    is_branch = False
    if not is_new and is_new_turn and new and is_question(new[0]):
        same_place = Node.objects.filter(
            conversation_id=conversation_id, parent_id=new[0].parent_id, role="human"
        )
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


def _open_conversation(request: PreparedMessages) -> tuple[Match, int, bool]:
    match = _match(request)
    if match.conversation_id is None:
        row = fetch_row(
            _INSERT_CONVERSATION,
            copilot_id=request.chain.copilot_id,
            principal=request.chain.principal,
            user_id=request.user_id,
            origin=request.origin,
            trace_id=request.trace_id,
            title=request.title,
            at=request.at,
        )
        if row is not None:
            return match, row["id"], True
        match = _match(request)
    if match.conversation_id is None:  # another process inserted it and deleted it again
        raise OperationalError("a conversation is there, and not found")
    return match, match.conversation_id, False


def _match(request: PreparedMessages) -> Match:
    return match_request(
        request.chain, request.messages, trace_id=request.trace_id, user_id=request.user_id
    )


def _insert_messages(conversation_id: int, match: Match, request: PreparedMessages) -> list[Node]:
    chain, above, new = request.chain, match.leaf, list[Node]()
    newest = len(request.messages) - 1
    contents = dict.fromkeys(range(match.used, newest + 1), NO_CONTENT)
    for index in contents if request.keep_content else ():
        is_newest = index == newest
        contents[index] = (
            request.newest if is_newest else serialize_message(request.messages[index].message)
        )
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
            **values, agent=content.agent, text=content.text, blob_id=content.sha, at=request.at
        )
        above = Node(id=id, **values)
        new.append(above)
    return new


def _open_turn(
    conversation_id: int, path: Sequence[Node], new: Sequence[Node], request: PreparedMessages
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
        _INSERT_TURN, conversation_id=conversation_id, human_node_id=question_id, at=request.at
    )
    if row is not None:
        return row["id"], True
    turn_id = ids.first()
    if turn_id is None:  # another process inserted it and deleted it again
        raise OperationalError("a turn is there, and not found")
    return turn_id, False
