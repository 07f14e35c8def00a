"""Attach a request to its conversation: the messages that are new, and the turn; writes.

Source: docs/transcripts.md, rules 4, 5, 6 and 9.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from django.db import IntegrityError, OperationalError, transaction

from copilot_admin.models import Conversation, Node, Turn
from copilot_admin.storage import blobs
from copilot_admin.storage.sql import fetch_row
from copilot_admin.transcripts.matching.chain import Chain, Link
from copilot_admin.transcripts.matching.content import NO_CONTENT, StoredContent, content_of
from copilot_admin.transcripts.matching.finding import LOOKED_UP, Found, KnownConversation, find
from copilot_admin.transcripts.matching.inserting import chained, insert
from copilot_admin.transcripts.matching.tree import Seen
from protocol.canonical import CanonicalRole
from protocol.messages import HumanMessage

TITLE_CHARACTERS = 300
_TITLE_SOURCE = 20 * TITLE_CHARACTERS  # blanks are left out; a question may have megabytes

# Another process may have been faster: then nothing is inserted, and its row is found.
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
# Other questions at the same place. SQLite compiles the statement once because the role is a constant.
_SIBLING = """
SELECT id FROM copilot_admin_node
WHERE conversation_id = %(conversation_id)s AND parent_id = %(parent_id)s AND id <> %(id)s
    AND role = 'human' LIMIT 1
"""
_FIRST_SIBLING = """
SELECT id FROM copilot_admin_node
WHERE conversation_id = %(conversation_id)s AND depth = 0 AND id <> %(id)s AND role = 'human' LIMIT 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMessages:
    """The messages of a request, made ready outside of the transaction.

    Attributes:
        newest: Content of the last message, which is nearly always the only new one.
        older: Contents of messages before it, by their place, where it takes long to make them.
        user_id: Of the row of the user who asks; known in the transaction only.
        origin: Of a trial: the conversation whose question it asks again.
    """

    chain: Chain
    links: Sequence[Link]
    trace_id: str
    keep_content: bool
    newest: StoredContent
    at: datetime
    older: Mapping[int, StoredContent] = field(default_factory=dict)
    user_id: int | None = None
    origin: int | None = None

    def find(self) -> Found:
        """Where they attach; reads the database."""
        return find(self.chain, self.links, trace_id=self.trace_id, user_id=self.user_id)

    def first_unknown(self) -> int:
        """The place of the first message that is stored nowhere; reads the database."""
        places = {link.chain_hash: place for place, link in enumerate(self.links)}
        newest = list(places)[-LOOKED_UP:]
        known = Node.objects.filter(chain_hash__in=newest).values_list("chain_hash", flat=True)
        return max((places.get(chain_hash, -1) for chain_hash in known), default=-1) + 1

    def contents(self, *, start: int) -> list[StoredContent]:
        """What is stored of the messages from a place on."""
        if start >= len(self.links):
            return []
        older = range(start, len(self.links) - 1)
        if not self.keep_content:
            return [NO_CONTENT] * (len(older) + 1)
        return [*map(self._older, older), self.newest]

    def _older(self, place: int) -> StoredContent:
        return self.older.get(place) or content_of(self.links[place].message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """The conversation and turn that a request belongs to, after its new messages are stored.

    Attributes:
        is_new: The conversation begins with this request.
        leaf_id: The node of the request's last message.
        path: Hashes of the stored messages that lead to the leaf, and maybe of others.
        is_new_turn: The question was not asked before.
        branches: The question was asked beside another one.
    """

    conversation_id: int
    turn_id: int
    is_new: bool
    leaf_id: int | None
    path: frozenset[str]
    is_new_turn: bool
    branches: bool


def attach(incoming: PreparedMessages) -> Attached:
    """Stores what is new in a request, under what it continues."""
    found = incoming.find()
    found, conversation, is_new = _conversation(found, incoming)
    new = _insert(conversation, found, incoming)
    if found.place.differing:
        Node.objects.filter(pk__in=found.place.differing, echo_differs=False).update(
            echo_differs=True
        )
    turn_id, is_new_turn = _turn(conversation, found, new, incoming)
    return Attached(
        conversation_id=conversation.id,
        turn_id=turn_id,
        is_new=is_new,
        leaf_id=_leaf_id(found, new),
        path=_path(found, new, incoming.links),
        is_new_turn=is_new_turn,
        branches=not is_new and is_new_turn and _has_siblings(new),
    )


def _conversation(
    found: Found, incoming: PreparedMessages
) -> tuple[Found, KnownConversation, bool]:
    """The conversation found, or a new one; when two requests make it, the second finds it."""
    if found.conversation is None:
        conversation = _new_conversation(incoming)
        if conversation is not None:
            return found, conversation, True
        found = incoming.find()
    elif incoming.trace_id and not found.conversation.trace_id:
        found = _named(found, found.conversation, incoming)
    if found.conversation is None:  # it was made by another process, which took it away again
        raise OperationalError("a conversation is there, and not found")
    return found, found.conversation, False


def _new_conversation(incoming: PreparedMessages) -> KnownConversation | None:
    row = fetch_row(
        _INSERT_CONVERSATION,
        copilot_id=incoming.chain.copilot_id,
        principal=incoming.chain.principal,
        user_id=incoming.user_id,
        origin=incoming.origin,
        trace_id=incoming.trace_id,
        title=_title(incoming) if incoming.keep_content else "",
        at=incoming.at,
    )
    return KnownConversation(row["id"], incoming.trace_id) if row else None


def _named(found: Found, conversation: KnownConversation, incoming: PreparedMessages) -> Found:
    """Gives a conversation that was found by its words the trace id it goes by from now on."""
    try:
        with transaction.atomic():
            Conversation.objects.filter(pk=conversation.id).update(trace_id=incoming.trace_id)
    except IntegrityError:
        return incoming.find()
    return found


def _title(incoming: PreparedMessages) -> str:
    for link in incoming.links:
        if link.role is CanonicalRole.HUMAN:
            question = cast(HumanMessage, link.message)
            beginning = replace(question, text=question.text.lstrip()[:_TITLE_SOURCE])
            return " ".join(content_of(beginning).text.split())[:TITLE_CHARACTERS]
    return ""


def _insert(
    conversation: KnownConversation, found: Found, incoming: PreparedMessages
) -> list[Seen]:
    """Stores the new messages, each under the one before."""
    contents = incoming.contents(start=found.place.used)
    blobs.save(content.blob for content in contents if content.blob)
    new = zip(incoming.links[found.place.used :], contents, strict=True)
    return insert(
        tuple(chained(new, chain=incoming.chain, before=found.place.node)),
        conversation_id=conversation.id,
        before=found.place.node,
        at=incoming.at,
    )


def _turn(
    conversation: KnownConversation, found: Found, new: Sequence[Seen], incoming: PreparedMessages
) -> tuple[int, bool]:
    """The turn of the nearest question above the leaf; results without one share a turn."""
    human_id = _question_id(conversation, found, new, incoming.links)
    if not any(node.id == human_id for node in new):
        turn_id = _turn_of(conversation, human_id)
        if turn_id is not None:
            return turn_id, False
    row = fetch_row(
        _INSERT_TURN, conversation_id=conversation.id, human_node_id=human_id, at=incoming.at
    )
    if row is not None:
        return row["id"], True
    turn_id = _turn_of(conversation, human_id)
    if turn_id is None:  # another process made it, and took it away again
        raise OperationalError("a turn is there, and not found")
    return turn_id, False


def _turn_of(conversation: KnownConversation, human_id: int | None) -> int | None:
    turns = Turn.objects.filter(human_node_id=human_id)
    if human_id is None:
        turns = turns.filter(conversation_id=conversation.id)
    return turns.order_by("-id").values_list("pk", flat=True).first()


def _question_id(
    conversation: KnownConversation, found: Found, new: Sequence[Seen], links: Sequence[Link]
) -> int | None:
    for node in reversed(new):
        if node.role is CanonicalRole.HUMAN:
            return node.id
    place = found.place.node
    anchor = found.tree.anchor(place) if place else None
    if anchor is not None:
        return anchor.id
    hashes = [link.chain_hash for link in links if link.role is CanonicalRole.HUMAN]
    asked = Node.objects.filter(conversation_id=conversation.id, chain_hash__in=hashes[-1:])
    return asked.values_list("pk", flat=True).first()


def _leaf_id(found: Found, new: Sequence[Seen]) -> int | None:
    if new:
        return new[-1].id
    return found.place.node.id if found.place.node else None


def _path(found: Found, new: Sequence[Seen], links: Sequence[Link]) -> frozenset[str]:
    hashes = {link.chain_hash for link in links} | {node.chain_hash for node in new}
    node = found.place.node
    while node is not None:
        hashes.add(node.chain_hash)
        node = found.tree.parent(node)
    return frozenset(hashes)


def _has_siblings(new: Sequence[Seen]) -> bool:
    if not new or new[0].role is not CanonicalRole.HUMAN:
        return False
    first = new[0]
    place: dict[str, object] = {"conversation_id": first.conversation_id, "id": first.id}
    if first.parent_id is None:
        return fetch_row(_FIRST_SIBLING, **place) is not None
    return fetch_row(_SIBLING, **place, parent_id=first.parent_id) is not None
