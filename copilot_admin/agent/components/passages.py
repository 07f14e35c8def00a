"""Cuts documents into passages of a few sentences or rows, and finds those that answer a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import re

from copilot_admin.agent.components.inputs import SourceDocument
from copilot_admin.agent.toolkits.ranking import scores, words_of

FEWEST_WORDS = 150  # from here on a passage ends where a sentence or a row does
MOST_WORDS = 200
MOST_CHARACTERS = 1_600  # for text without blanks; 200 long words fit
# Where a piece of text may end: after a line, a sentence, a row of JSON, or else a blank or comma.
_LINE_OR_SENTENCE = re.compile(
    r"[^\n]*?(?:[.!?;][\"')\]]*\s+|[。！？]|[}\]],\s*|\n+|$)"  # noqa: RUF001
)
_SMALL_PIECE = re.compile(r"[^\s,;]*[\s,;]+|[^\s,;]+")
_WORD = re.compile(r"[^\W_]+")
# Words of a question that say nothing of what it is about.
_FUNCTION_WORDS = frozenset(
    words_of(
        "a about am an and any are as at be been by can could did do does for from give had has have "
        "how i in into is it its me my of on or our please s should show tell than that the their them "
        "there these they this those to us was we were what when where which who whom whose why will "
        "with would you your"
    )
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document.

    Attributes:
        document: Its name.
        label: Where it stands, such as "page 3"; may be empty.
        text: A few sentences or rows.
    """

    document: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that fits a question, and how well."""

    passage: Passage
    score: float


def passages(document: SourceDocument) -> Iterator[Passage]:
    """The passages of a document in its order; none crosses a page.

    Examples:
        >>> from copilot_admin.agent.components.inputs import DocumentOrigin
        >>> parts = (("page 1", "Sales rose."), ("page 2", ""))
        >>> list(passages(SourceDocument("Report", DocumentOrigin.FILE, parts)))
        [Passage(document='Report', label='page 1', text='Sales rose.')]
    """
    for label, text in document.parts:
        for piece in _cut(text):
            yield Passage(document.name, label, piece)


def search(
    question: str, documents: Sequence[SourceDocument], *, most: int
) -> tuple[PassageHit, ...]:
    """The passages that fit a question best, best first; equals in the order of the documents.

    The name of a document and the label of a page count as words of their passages. A passage in
    which no word of the question occurs is never found.

    Args:
        question: In any words; those that only hold a sentence together do not count.
        documents: Where to look.
        most: How many passages at most.
    """
    pieces = [piece for document in documents for piece in passages(document)]
    texts = [f"{piece.document} {piece.label} {piece.text}" for piece in pieces]
    found = [
        PassageHit(piece, score)
        for piece, score in zip(pieces, scores(_essence(question), texts), strict=True)
        if score > 0
    ]
    return tuple(sorted(found, key=lambda hit: -hit.score)[:most])


def _essence(question: str) -> str:
    words = _WORD.findall(question)
    telling = [word for word in words if word.lower() not in _FUNCTION_WORDS]
    return " ".join(telling or words)


def _cut(text: str) -> Iterator[str]:
    taken, count = "", 0
    for unit in _units(text):
        words = len(words_of(unit))
        full = count + words > MOST_WORDS or len(taken) + len(unit) > MOST_CHARACTERS
        if taken and (full or count >= FEWEST_WORDS):
            yield from _filled(taken)
            taken, count = "", 0
        taken += unit
        count += words
    yield from _filled(taken)


def _filled(piece: str) -> Iterator[str]:
    if stripped := piece.strip():
        yield stripped


def _units(text: str) -> Iterator[str]:
    for found in _LINE_OR_SENTENCE.finditer(text):
        unit = found[0]
        if len(unit) <= MOST_CHARACTERS and len(words_of(unit)) <= FEWEST_WORDS:
            yield unit
        else:
            for word in _SMALL_PIECE.findall(unit):
                for start in range(0, len(word), MOST_CHARACTERS):
                    yield word[start : start + MOST_CHARACTERS]
