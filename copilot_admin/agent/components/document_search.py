"""Component that finds the passages of files and widget data that answer a question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
import re
from typing import Annotated, Any

from pydantic import Field

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import DOCUMENTS, SourceDocument, documents_in
from copilot_admin.agent.toolkits.ranking import scores, split_words
from protocol.components import ComponentOutput, ContentType

MAX_PASSAGES = 20
MAX_QUERY = 10_000  # characters
MIN_WORDS = 150  # a passage ends with the sentence or row that reaches this
MAX_WORDS = 200
MAX_CHARACTERS = 1_600  # of a passage, for text without spaces; longer than 200 average terms
# Text is cut after a line, a sentence, a row of JSON, or else a space or comma.
_LINE_OR_SENTENCE = re.compile(
    r"[^\n]*?(?:[.!?;][\"')\]]*\s+|[。！？]|[}\]],\s*|\n+|$)"  # noqa: RUF001
)
_SMALL_PIECE = re.compile(r"[^\s,;]*[\s,;]+|[^\s,;]+")
_WORD = re.compile(r"[^\W_]+")
_NOTHING_CAME = "This request came without files and widget data. Ask the user for them."
_FUNCTION_WORDS = frozenset(
    split_words(
        "a about am an and any are as at be been by can could did do does for from give had has have "
        "how i in into is it its me my of on or our please s should show tell than that the their them "
        "there these they this those to us was we were what when where which who whom whose why will "
        "with would you your"
    )
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A few sentences or rows of a document; the label is their place, such as "page 3"."""

    document: SourceDocument
    label: str
    text: str


class DocumentSearch(Component):
    """Finds passages in the files and widget data of a question, and cites them."""

    name = "document_search"
    version = "v1"
    content_types = (ContentType.REFERENCES, ContentType.TEXT)
    samples = (
        {"query": "How did revenue grow?"},
        {"query": "risks from interest rates", "top_k": 3},
    )
    uses = (DOCUMENTS,)

    def tool_eval(
        self,
        query: str,
        documents: Sequence[str] = (),
        top_k: Annotated[int, Field(ge=1, le=MAX_PASSAGES)] = 5,
        **kwargs: Any,
    ) -> Iterator[ComponentOutput]:
        """Finds the passages of the user's files and widget data that fit a question best.

        Args:
            query: What to look for, in the words that the documents are likely to use.
            documents: Names of the documents to look in. Leave it out to look in all of them.
            top_k: How many passages at most, from 1 to 20.
            **kwargs: What the system passes; `_sys_documents` is where to look.
        """
        if not query.strip() or len(query) > MAX_QUERY:
            raise ValueError(
                f"Say in `query` what to search for, in at most {MAX_QUERY:,} characters."
            )
        known = _name_distinctly(documents_in(kwargs))
        chosen = _choose(known, documents) or list(known.values())
        hits = search(query, chosen)[:top_k]
        if not hits:
            text = f"Nothing was searched. {_NOTHING_CAME}"
            if chosen:
                text = "Nothing was found: no passage has a word of the query. "
                text += f"Searched: {_list_names(chosen)}."
            yield self.create_output("text", text)
        for number, (score, passage) in enumerate(hits, 1):
            reference = {
                "type": "doc",
                "id": number,
                "doc_id": passage.document.name,
                "title": ", ".join(filter(None, (passage.document.name, passage.label))),
                "source": str(passage.document.origin),
                "content": passage.text,
                "extra": {"score": round(score, 3)},
            }
            yield self.create_output("references", reference)


def search(question: str, documents: Sequence[SourceDocument]) -> list[tuple[float, Passage]]:
    """Return the passages that share terms with a question and their scores, best first.

    The name of a document and the label of a page count as text of their passages.
    """
    found = [passage for document in documents for passage in passages(document)]
    texts = [f"{one.document.name} {one.label} {one.text}" for one in found]
    words = _WORD.findall(question)
    essence = [word for word in words if word.lower() not in _FUNCTION_WORDS] or words
    hits = zip(scores(" ".join(essence), texts), found, strict=True)
    return sorted((hit for hit in hits if hit[0] > 0), key=lambda hit: -hit[0])


def passages(document: SourceDocument) -> Iterator[Passage]:
    """Yield the passages of a document in order; a passage doesn't cross pages."""
    for label, text in document.parts:
        for piece in _cut(text):
            if stripped := piece.strip():
                yield Passage(document, label, stripped)


def _cut(text: str) -> Iterator[str]:
    taken, count = "", 0
    for unit in _split_units(text):
        words = len(split_words(unit))
        full = count + words > MAX_WORDS or len(taken) + len(unit) > MAX_CHARACTERS
        if full or count >= MIN_WORDS:
            yield taken
            taken, count = "", 0
        taken += unit
        count += words
    yield taken


def _split_units(text: str) -> Iterator[str]:
    for unit in _LINE_OR_SENTENCE.findall(text):
        if len(unit) <= MAX_CHARACTERS and len(split_words(unit)) <= MIN_WORDS:
            yield unit
        else:
            for word in _SMALL_PIECE.findall(unit):
                for start in range(0, len(word), MAX_CHARACTERS):
                    yield word[start : start + MAX_CHARACTERS]


def _name_distinctly(documents: Sequence[SourceDocument]) -> dict[str, SourceDocument]:
    """Return the documents by their names in lower case, which get a number if they repeat."""
    named: dict[str, SourceDocument] = {}
    for document in documents:
        plain = " ".join(document.name.split()) or "document"
        names = (f"{plain} ({number})" if number > 1 else plain for number in count(1))
        name = next(name for name in names if name.lower() not in named)
        named[name.lower()] = replace(document, name=name)
    return named


def _choose(known: Mapping[str, SourceDocument], names: Sequence[str]) -> list[SourceDocument]:
    keys = {" ".join(name.split()).lower(): name for name in names}
    for key, name in keys.items():
        if key not in known:
            listed = f"There are: {_list_names(known.values())}." if known else _NOTHING_CAME
            raise ValueError(f"There is no document {name!r}. {listed}")
    return [known[key] for key in keys]


def _list_names(documents: Iterable[SourceDocument]) -> str:
    return ", ".join(document.name for document in documents)
