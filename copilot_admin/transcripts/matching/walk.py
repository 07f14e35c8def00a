"""Walk along a stored conversation with the messages of a request: where do they part?

A client repeats the history, but not always word for word: it splits or trims answers, drops the
pair of a function call and its result, migrates old calls, sends only the last messages. None of
this may branch the conversation.
Source: docs/transcripts.md, rules 1c, 4 and 5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from copilot_admin.transcripts.matching.chain import Chain, Link
from copilot_admin.transcripts.matching.similarity import Compared, likeness
from copilot_admin.transcripts.matching.tree import MessageTree, Seen
from protocol.canonical import CanonicalRole, Kind
from protocol.messages import AiMessage

ALIKE = 0.5  # below it, two answers have nothing but common words in common
STARTS = 8  # first messages of a shortened history that are tried as its beginning


@dataclass(frozen=True, slots=True)
class AttachPoint:
    """Where a request attaches.

    Attributes:
        node: The last message that is stored already; None: none is.
        used: Messages of the request that are stored already, or need not be.
        differing: Ids of stored messages that came back in other words.
        answers: Stored answers and calls that the walk recognised.
    """

    node: Seen | None = None
    used: int = 0
    differing: frozenset[int] = frozenset()
    answers: int = 0


NOWHERE = AttachPoint()


class Walk:
    """One walk; `strict` accepts an altered answer only if it is alike."""

    def __init__(self, tree: MessageTree, chain: Chain, *, strict: bool) -> None:
        self._tree = tree
        self._chain = chain
        self._strict = strict

    def follow(self, links: Sequence[Link], place: AttachPoint = NOWHERE) -> AttachPoint:
        """Walks from the beginning of the conversation, or from a place that is sure."""
        return self._go(links, place)

    def follow_shortened(self, links: Sequence[Link]) -> AttachPoint:
        """Walks from wherever a history that lacks its beginning starts.

        At least one answer has to be recognised word for word; else nothing is.
        """
        best = AttachPoint()
        for start, link in enumerate(links[:STARTS]):
            for node in self._same(link, self._tree.nodes.values()):
                began = AttachPoint(node, start + 1, answers=int(node.role is CanonicalRole.AI))
                place = self._go(links, began)
                exact = place.answers > len(place.differing)
                if exact and (place.used, _id(place)) > (best.used, _id(best)):
                    best = place
        return best

    def _go(self, links: Sequence[Link], place: AttachPoint) -> AttachPoint:
        loose = False
        while place.used < len(links):
            link = links[place.used]
            node = self._next_exactly(link, place.node)
            if node is not None:
                loose = False
                place = _moved(place, node, link)
                continue
            following = self._next_loosely(links, place, loose=loose)
            if following is None:
                return place
            place, loose = following, True
        return place

    def _next_exactly(self, link: Link, node: Seen | None) -> Seen | None:
        before = self._chain.root if node is None else node.chain_hash
        return self._tree.with_hash(self._chain.after(before, link.digest))

    def _next_loosely(
        self, links: Sequence[Link], place: AttachPoint, *, loose: bool
    ) -> AttachPoint | None:
        if place.node is None:
            return None
        link = links[place.used]
        anchor = self._tree.anchor(place.node)
        region = list(self._tree.region(anchor or place.node))
        is_last = place.used == len(links) - 1
        match link.role, link.kind:
            case CanonicalRole.HUMAN, _:
                if place.node.is_answer and not loose:
                    return None  # exactly this answer, and another question after it: an edit
                return self._same_question(link, place, region)
            case CanonicalRole.AI, Kind.TEXT:
                return self._same_answer(link, place, region)
            case _:
                return self._same_exchange(link, place, region, is_last=is_last)

    def _same_question(
        self, link: Link, place: AttachPoint, region: list[Seen]
    ) -> AttachPoint | None:
        asked = [child for node in region for child in self._tree.children(node)]
        same = [node for node in self._same(link, asked) if node.role is CanonicalRole.HUMAN]
        return _moved(place, max(same, key=_node_id), link) if same else None

    def _same_answer(
        self, link: Link, place: AttachPoint, region: list[Seen]
    ) -> AttachPoint | None:
        answers = [node for node in region if node.is_answer]
        same = self._same(link, answers)
        if same:
            return _moved(place, max(same, key=_node_id), link)
        if not answers:
            return self._skipped(place, region)
        text = link.message.text if isinstance(link.message, AiMessage) else ""
        score, _, node = max((likeness(node.text, text), node.id, node) for node in answers)
        if self._strict and (score < ALIKE or Compared(node.text).contradicts(Compared(text))):
            return None
        return _moved(place, node, link, differs=True)

    def _skipped(self, place: AttachPoint, region: list[Seen]) -> AttachPoint | None:
        """The answer to our question is not stored (yet): this is the client's copy of it."""
        if region[0].role is CanonicalRole.HUMAN and not region[0].from_history:
            return AttachPoint(place.node, place.used + 1, place.differing, place.answers)
        return None

    def _same_exchange(
        self, link: Link, place: AttachPoint, region: list[Seen], *, is_last: bool
    ) -> AttachPoint | None:
        """A call or a result of the past; a result that comes last is new."""
        stored = [node for node in region if (node.role, node.kind) == (link.role, link.kind)]
        same = self._same(link, stored)
        if same:
            return _moved(place, max(same, key=_node_id), link)
        followers = [node for node in stored if node.parent_id == (place.node and place.node.id)]
        if is_last or not followers:
            return None
        return _moved(place, max(followers, key=_node_id), link, differs=True)

    def _same(self, link: Link, nodes: Iterable[Seen]) -> list[Seen]:
        """Those of the nodes that say what the link says, wherever they stand."""
        return [node for node in nodes if self._says(node, link.digest)]

    def _says(self, node: Seen, digest: bytes) -> bool:
        parent = self._tree.parent(node)
        if parent is None and node.parent_id is not None:
            return False  # its parent was not loaded
        before = self._chain.root if parent is None else parent.chain_hash
        return self._chain.after(before, digest) == node.chain_hash


def _moved(place: AttachPoint, node: Seen, link: Link, *, differs: bool = False) -> AttachPoint:
    differing = place.differing | {node.id} if differs else place.differing
    return AttachPoint(
        node, place.used + 1, differing, place.answers + (link.role is CanonicalRole.AI)
    )


def _node_id(node: Seen) -> int:
    return node.id


def _id(place: AttachPoint) -> int:
    return place.node.id if place.node else 0
