"""Which of several conversations that begin with the same questions a request continues.

The answers decide, all that are known of each conversation. Where two are alike, none is taken: a
conversation of its own can be read, one with somebody else's words in it cannot be mended.
Source: docs/transcripts.md, rule 1c.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from copilot_admin.transcripts.matching.chain import Link
from copilot_admin.transcripts.matching.similarity import Compared
from copilot_admin.transcripts.matching.tree import Seen
from protocol.messages import AiMessage

# The next best has to be less alike by so much, in all answers together. Two long answers that
# differ in a number differ by less than that.
CLEARLY = 0.1
SAME_LETTERS = 1.0  # besides its likeness, where an answer has lost or gained only markup and space


def most_alike(answers: Iterable[Seen], links: Sequence[Link], *, complete: bool) -> int | None:
    """The conversation whose answers are most like those of a request; None: it is not clear.

    Args:
        answers: Stored answers to the request's questions, of all conversations that come into
            question.
        links: The request's messages.
        complete: There are no more such answers; else only the same letters are a reason.
    """
    by_conversation: dict[int, list[Seen]] = defaultdict(list)
    for answer in answers:
        by_conversation[answer.conversation_id].append(answer)
    if complete and len(by_conversation) == 1:
        return next(iter(by_conversation))
    if not by_conversation:
        return None
    texts = _texts(links)
    # Of a long chat few answers are stored where it was never seen: only these are worth the time.
    stored_hashes = {answer.client_hash for group in by_conversation.values() for answer in group}
    told = {one: Compared(text) for one, text in texts.items() if one in stored_hashes}
    scores = {id_: _score(stored, told) for id_, stored in by_conversation.items()}
    first, *others = sorted(scores, key=scores.__getitem__, reverse=True)
    least = (1 + SAME_LETTERS) * len(texts) if not complete else CLEARLY
    if scores[first] < least or any(scores[first] - scores[one] < CLEARLY for one in others[:1]):
        return None
    return first


def _texts(links: Sequence[Link]) -> Mapping[str, str]:
    """The answers as the client tells them, by the hash of what was asked before each."""
    return {
        link.client_hash: link.message.text for link in links if isinstance(link.message, AiMessage)
    }


def _score(stored: Iterable[Seen], told: Mapping[str, Compared]) -> float:
    """How alike a conversation is: the best of each question's answers, summed up."""
    best: dict[str, float] = {}
    for answer in stored:
        if not answer.is_answer or answer.client_hash not in told:
            continue
        here, there = Compared(answer.text), told[answer.client_hash]
        alike = here.likeness(there) + (SAME_LETTERS if here.says_the_same(there) else 0.0)
        best[answer.client_hash] = max(alike, best.get(answer.client_hash, 0.0))
    return sum(best.values())
