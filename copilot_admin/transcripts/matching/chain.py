"""Messages as links of two hash chains, by which a conversation is recognised when it comes back.

The chain over all messages finds the exact place; the second one, over what only the client writes,
finds it when a reply came back in other words.
Source: docs/transcripts.md, rules 1 to 3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

from copilot_admin.transcripts.matching.shortening import shortened
from protocol.canonical import CanonicalRole, Kind, canonical, kind_of, role_of
from protocol.messages import AiMessage, Message, ResultMessage
from protocol.pieces import PIECE, pieces_of

HASH_BYTES = 16
PUBLIC_KEY = b"copilot-admin chain 1"  # where content is stored beside the hashes anyway
BUBBLE_SPACE = "\n\n"


@dataclass(frozen=True, slots=True)
class Link:
    """One message of a request and the hashes of the history up to and with it."""

    message: Message
    digest: bytes
    chain_hash: str
    client_hash: str

    @property
    def role(self) -> CanonicalRole:
        """Who wrote the message."""
        return role_of(self.message)

    @property
    def kind(self) -> Kind:
        """Whether the message is text, a call or a result."""
        return kind_of(self.message)


@dataclass(frozen=True, slots=True)
class Chain:
    """The hashing of one caller's conversations with one copilot.

    Attributes:
        key: Secret where no content is stored, so that the hashes tell nothing.
        user: The id of the user who asks; "": nobody named him. The hashes of two users have
            nothing in common, so their conversations never join.
    """

    key: bytes
    copilot_id: int
    principal: str
    user: str = ""

    @property
    def root(self) -> str:
        """The hash of the empty history."""
        whose = f"{self.copilot_id}\n{self.principal}"
        if self.user:
            whose += f"\n{self.user}"
        return self._hash(whose.encode()).hex()

    def after(self, chain_hash: str, digest: bytes) -> str:
        """The hash of a history and one more message."""
        return self._hash(bytes.fromhex(chain_hash) + digest).hex()

    def links(self, messages: Sequence[Message]) -> tuple[Link, ...]:
        """A history as links; bubbles of one answer are joined, empty ones left out."""
        return tuple(self._links(whole_answers(messages)))

    def _links(self, messages: Iterable[Message]) -> Iterator[Link]:
        chain_hash = client_hash = self.root
        for message in messages:
            digest = digest_of(message, key=self.key)
            chain_hash = self.after(chain_hash, digest)
            if role_of(message) is not CanonicalRole.AI:
                client_hash = self.after(client_hash, digest)
            yield Link(message, digest, chain_hash, client_hash)

    def _hash(self, data: bytes) -> bytes:
        return _hash(data, key=self.key)


def digest_of(message: Message, *, key: bytes) -> bytes:
    """The hash of what one message says, the same in every chain with this key.

    Of an answer only the characters count, not the space between them: the client splits an
    answer into bubbles where a step or an artifact stood, and trims each.
    """
    match message:
        case AiMessage(text):
            message = AiMessage(_without_space(text))
        case ResultMessage():
            message = shortened(message)
    return _hash(canonical(message), key=key)


def _without_space(text: str) -> str:
    if len(text) <= PIECE:
        return "".join(text.split())
    # By the piece: the words of 20 MB at once take another 250 MB.
    return "".join("".join(piece.split()) for piece in pieces_of(text))


def _hash(data: bytes, *, key: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES, key=key).digest()


def whole_answers(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages with the bubbles of one answer joined and empty answers left out."""
    for is_answer, group in groupby(messages, key=lambda message: isinstance(message, AiMessage)):
        if is_answer:
            yield from _joined(group)
        else:
            yield from group


def _joined(group: Iterable[Message]) -> Iterator[Message]:
    bubbles = [bubble for bubble in group if isinstance(bubble, AiMessage)]
    text = BUBBLE_SPACE.join(bubble.text for bubble in bubbles if bubble.text.strip())
    if text:
        yield AiMessage(text, agent_id=bubbles[-1].agent_id)
