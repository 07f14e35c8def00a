"""The stored messages of a conversation, as a tree to walk along with a request."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from protocol.canonical import CanonicalRole, Kind


@dataclass(frozen=True, slots=True)
class Seen:
    """A stored message, as far as threading needs it; `text` is the beginning of an answer."""

    id: int
    conversation_id: int
    parent_id: int | None
    depth: int
    chain_hash: str
    client_hash: str
    from_history: bool
    role: CanonicalRole
    kind: Kind
    text: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether an agent wrote this text."""
        return self.role is CanonicalRole.AI and self.kind is Kind.TEXT


class MessageTree:
    """Stored messages by parent and hash."""

    def __init__(self, nodes: Iterable[Seen]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self._by_hash = {node.chain_hash: node for node in self.nodes.values()}
        self._children: dict[int | None, list[Seen]] = defaultdict(list)
        for node in self.nodes.values():
            self._children[node.parent_id].append(node)

    def with_hash(self, chain_hash: str) -> Seen | None:
        """The message whose history has this hash."""
        return self._by_hash.get(chain_hash)

    def parent(self, node: Seen) -> Seen | None:
        """The message that this one follows; none for the first."""
        return self.nodes.get(node.parent_id) if node.parent_id is not None else None

    def children(self, node: Seen) -> list[Seen]:
        """The messages that follow, oldest first."""
        return self._children[node.id]

    def anchor(self, node: Seen) -> Seen | None:
        """The question to which a message belongs; the message itself if it is one."""
        above: Seen | None = node
        while above is not None and above.role is not CanonicalRole.HUMAN:
            above = self.parent(above)
        return above

    def region(self, node: Seen) -> Iterator[Seen]:
        """A message and all that followed it until the next question, whatever the branch."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            yield one
            waiting.extend(
                child for child in self.children(one) if child.role is not CanonicalRole.HUMAN
            )
