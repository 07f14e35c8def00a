"""Attach a request to its conversation: the messages that are new, and the turn; writes.

Source: docs/transcripts.md, rules 4, 5, 6 and 9.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Model

from copilot_admin import blobs
from copilot_admin.models import Conversation, Node, Turn
from copilot_admin.threads.chain import Chain, Link
from copilot_admin.threads.content import NO_CONTENT, Content, content_of
from copilot_admin.threads.finding import Found, find
from protocol.canonical import Role

TITLE_CHARACTERS = 300

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """The messages of a request, made ready outside of the transaction.

    Attributes:
        newest: Content of the last message, which is nearly always the only new one.
    """

    chain: Chain
    links: Sequence[Link]
    trace_id: str
    keep_content: bool
    newest: Content
    at: datetime

    def contents(self, *, start: int) -> list[Content]:
        """What is stored of the messages from a place on."""
        if start >= len(self.links):
            return []
        older = self.links[start:-1]
        if not self.keep_content:
            return [NO_CONTENT] * (len(older) + 1)
        return [*(content_of(link.message) for link in older), self.newest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """Where a request stands now.

    Attributes:
        leaf_id: The node of the request's last message.
        path: Hashes of the stored messages that lead to the leaf, and maybe of others.
        is_new_turn: The question was not asked before.
        branches: The question was asked beside another one.
    """

    conversation: Conversation
    turn: Turn
    leaf_id: int | None
    path: frozenset[str]
    is_new_turn: bool
    branches: bool


def attach(incoming: Incoming) -> Attached:
    """Stores what is new in a request, under what it continues."""
    found = find(incoming.chain, incoming.links, trace_id=incoming.trace_id)
    found, conversation, is_new = _conversation(found, incoming)
    new = _insert(conversation, found, incoming)
    if found.place.differing:
        Node.objects.filter(pk__in=found.place.differing, echo_differs=False).update(
            echo_differs=True
        )
    turn, is_new_turn = _turn(conversation, found, new, incoming)
    return Attached(
        conversation=conversation,
        turn=turn,
        leaf_id=_leaf_id(found, new),
        path=_path(found, new, incoming.links),
        is_new_turn=is_new_turn,
        branches=not is_new and is_new_turn and _has_siblings(new),
    )


def _conversation(found: Found, incoming: Incoming) -> tuple[Found, Conversation, bool]:
    """The conversation found, or a new one; when two requests make it, the second finds it."""
    if found.conversation is None:
        conversation, is_new = _new_conversation(incoming)
        if is_new:
            return found, conversation, True
        found = find(incoming.chain, incoming.links, trace_id=incoming.trace_id)
    elif incoming.trace_id and not found.conversation.trace_id:
        found = _named(found, found.conversation, incoming)
    assert found.conversation is not None  # noqa: S101  # it was found, or made by another process
    return found, found.conversation, False


def _new_conversation(incoming: Incoming) -> tuple[Conversation, bool]:
    values = {
        "title": _title(incoming) if incoming.keep_content else "",
        "first_at": incoming.at,
        "last_at": incoming.at,
    }
    owner = {
        "copilot_id": incoming.chain.copilot_id,
        "principal": incoming.chain.principal,
        "trace_id": incoming.trace_id,
    }
    return _made_or_found(Conversation, owner, values)


def _named(found: Found, conversation: Conversation, incoming: Incoming) -> Found:
    """Gives a conversation that was found by its words the trace id it goes by from now on."""
    conversation.trace_id = incoming.trace_id
    try:
        with transaction.atomic():
            conversation.save(update_fields=["trace_id"])
    except IntegrityError:
        return find(incoming.chain, incoming.links, trace_id=incoming.trace_id)
    return found


def _title(incoming: Incoming) -> str:
    for link in incoming.links:
        if link.role is Role.HUMAN:
            return " ".join(content_of(link.message).text.split())[:TITLE_CHARACTERS]
    return ""


def _insert(conversation: Conversation, found: Found, incoming: Incoming) -> list[Node]:
    """Stores the new messages; one that another process stored meanwhile is taken instead."""
    nodes = _new_nodes(conversation, found, incoming)
    if not nodes:
        return []
    Node.objects.bulk_create(
        nodes,
        update_conflicts=True,
        unique_fields=["conversation", "chain_hash"],
        update_fields=["depth"],  # to the same value: this is how both databases return the row
    )
    for parent, node in pairwise(nodes):
        node.parent = parent
    if len(nodes) > 1:
        Node.objects.bulk_update(nodes[1:], ["parent"])
    return nodes


def _new_nodes(conversation: Conversation, found: Found, incoming: Incoming) -> list[Node]:
    before, chain = found.place.node, incoming.chain
    chain_hash = before.chain_hash if before else chain.root
    client_hash = before.client_hash if before else chain.root
    depth = before.depth + 1 if before else 0
    links = incoming.links[found.place.used :]
    contents = incoming.contents(start=found.place.used)
    blobs.save(content.packed for content in contents if content.packed)
    nodes = []
    for index, (link, content) in enumerate(zip(links, contents, strict=True)):
        chain_hash = chain.after(chain_hash, link.digest)
        if link.role is not Role.AI:
            client_hash = chain.after(client_hash, link.digest)
        nodes.append(
            Node(
                conversation=conversation,
                parent_id=before.id if before and index == 0 else None,
                depth=depth + index,
                role=link.role.value,
                kind=link.kind.value,
                agent=content.agent,
                text=content.text,
                blob_id=content.sha,
                chain_hash=chain_hash,
                client_hash=client_hash,
                from_history=index < len(links) - 1,
                created_at=incoming.at,
            )
        )
    return nodes


def _turn(
    conversation: Conversation, found: Found, new: Sequence[Node], incoming: Incoming
) -> tuple[Turn, bool]:
    """The turn of the nearest question above the leaf; results without one share a turn."""
    started = {"started_at": incoming.at}
    human_id = _question_id(conversation, found, new, incoming.links)
    if human_id is not None:
        if not any(node.pk == human_id for node in new):
            turn = Turn.objects.filter(human_node_id=human_id).first()
            if turn is not None:
                return turn, False
        values = {"conversation": conversation, **started}
        return _made_or_found(Turn, {"human_node_id": human_id}, values)
    orphans = Turn.objects.filter(conversation=conversation, human_node=None)
    turn = orphans.order_by("-id").first()
    if turn is not None:
        return turn, False
    return Turn.objects.create(conversation=conversation, **started), True


def _made_or_found(
    model: type[Row], key: Mapping[str, object], values: Mapping[str, object]
) -> tuple[Row, bool]:
    """A row that most likely does not exist yet: tries to make it before it looks for it."""
    rows = model._default_manager
    try:
        with transaction.atomic():
            return rows.create(**key, **values), True
    except IntegrityError:
        return rows.get(**key), False


def _question_id(
    conversation: Conversation, found: Found, new: Sequence[Node], links: Sequence[Link]
) -> int | None:
    for node in reversed(new):
        if node.role == Role.HUMAN.value:
            return node.pk
    place = found.place.node
    anchor = found.tree.anchor(place) if place else None
    if anchor is not None:
        return anchor.id
    hashes = [link.chain_hash for link in links if link.role is Role.HUMAN]
    asked = Node.objects.filter(conversation=conversation, chain_hash__in=hashes[-1:])
    return asked.values_list("pk", flat=True).first()


def _leaf_id(found: Found, new: Sequence[Node]) -> int | None:
    if new:
        return new[-1].pk
    return found.place.node.id if found.place.node else None


def _path(found: Found, new: Sequence[Node], links: Sequence[Link]) -> frozenset[str]:
    hashes = {link.chain_hash for link in links} | {node.chain_hash for node in new}
    node = found.place.node
    while node is not None:
        hashes.add(node.chain_hash)
        node = found.tree.parent(node)
    return frozenset(hashes)


def _has_siblings(new: Sequence[Node]) -> bool:
    if not new or new[0].role != Role.HUMAN.value:
        return False
    first = new[0]
    beside = Node.objects.filter(
        conversation=first.conversation_id, parent=first.parent_id, role=Role.HUMAN.value
    )
    return beside.exclude(pk=first.pk).exists()
