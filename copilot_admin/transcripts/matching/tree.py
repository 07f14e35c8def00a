"""Stored messages of a conversation as a tree; an edited question is a branch of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from copilot_admin.models import Node
from protocol.canonical import CanonicalRole, Kind


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
