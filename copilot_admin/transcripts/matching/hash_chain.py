"""Keyed hash chains of messages, which identify a conversation when a client repeats it.

The chain of all messages finds the exact place. The chain of the client's own messages (questions and
results) finds it if an answer was returned altered. Stored hashes rely on every byte hashed here.
Source: docs/transcripts.md, rules 1 to 3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby

from django.conf import settings

from protocol.canonical import CanonicalRole, Kind, canonical, kind_of, role_of
from protocol.models import (
    AiMessage,
    DataItem,
    HumanMessage,
    Message,
    ResultMessage,
    SourceData,
    SourceResult,
)

HASH_BYTES = 16
PUBLIC_KEY = b"copilot-admin chain 1"  # for conversations stored with their content
MAX_PLAIN_CHARACTERS = 2048  # of an item of a result; a longer one is hashed separately
BUBBLE_SEPARATOR = "\n\n"


def hash_key(*, keep_content: bool) -> bytes:
    """Return the secret key of hash chains, or a public one that survives a new SECRET_KEY."""
    return PUBLIC_KEY if keep_content else _secret_key(settings.SECRET_KEY)


@lru_cache(maxsize=4)
def _secret_key(secret: str) -> bytes:
    return blake2b(secret.encode(), person=b"copilot-chain", digest_size=32).digest()


@dataclass(frozen=True, slots=True)
class HashedMessage:
    """A message of a request, and the hashes of the history including it."""

    message: Message
    digest: bytes
    chain_hash: str
    client_hash: str

    @property
    def role(self) -> CanonicalRole:
        return role_of(self.message)

    @property
    def kind(self) -> Kind:
        return kind_of(self.message)


@dataclass(frozen=True, slots=True)
class HashChain:
    """The hashing of one caller's conversations with one copilot; those of two users never join."""

    key: bytes
    copilot_id: int
    principal: str
    user: str = ""

    @property
    def root(self) -> str:
        """The hash of the empty history."""
        owner = f"{self.copilot_id}\n{self.principal}"
        if self.user:
            owner += f"\n{self.user}"
        return _hash(owner.encode(), key=self.key).hex()

    def extend(self, chain_hash: str, digest: bytes) -> str:
        return _hash(bytes.fromhex(chain_hash) + digest, key=self.key).hex()

    def hash_messages(self, messages: Sequence[Message]) -> tuple[HashedMessage, ...]:
        """Hash a history; bubbles of one answer are joined and empty answers left out."""
        hashed: list[HashedMessage] = []
        chain_hash = client_hash = self.root
        for message in join_bubbles(messages):
            digest = digest_of(message, key=self.key)
            chain_hash = self.extend(chain_hash, digest)
            if role_of(message) is not CanonicalRole.AI:
                client_hash = self.extend(client_hash, digest)
            hashed.append(HashedMessage(message, digest, chain_hash, client_hash))
        return tuple(hashed)


def digest_of(message: Message, *, key: bytes) -> bytes:
    """Return the hash of one message; spaces of an answer don't count, since clients trim bubbles."""
    match message:
        case AiMessage(text):
            message = AiMessage("".join(text.split()))
        case ResultMessage(data=data):
            message = replace(message, data=tuple(map(_hash_long_items, data)))
    return _hash(canonical(message), key=key)


def _hash_long_items(result: SourceResult) -> SourceResult:
    if not isinstance(result, SourceData):
        return result
    items = tuple(
        replace(item, content=blake2b(canonical(HumanMessage(item.content))).hexdigest())
        if isinstance(item, DataItem) and len(item.content) > MAX_PLAIN_CHARACTERS
        else item
        for item in result.items
    )
    return replace(result, items=items)


def _hash(data: bytes, *, key: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES, key=key).digest()


def join_bubbles(messages: Iterable[Message]) -> Iterator[Message]:
    for is_answer, group in groupby(messages, key=lambda message: isinstance(message, AiMessage)):
        if not is_answer:
            yield from group
            continue
        bubbles = [bubble for bubble in group if isinstance(bubble, AiMessage)]
        text = BUBBLE_SEPARATOR.join(bubble.text for bubble in bubbles if bubble.text.strip())
        if text:
            yield AiMessage(text, agent_id=bubbles[-1].agent_id)
