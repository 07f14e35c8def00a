"""The component that finds the passages of files and widget data that answer a question."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import DOCUMENTS, SourceDocument, documents_in
from copilot_admin.agent.components.passages import PassageHit, search
from protocol.components import ComponentOutput, ContentType

MOST_PASSAGES = 20
LONGEST_QUERY = 10_000  # characters


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
        top_k: Annotated[int, Field(ge=1, le=MOST_PASSAGES)] = 5,
        **kwargs: Any,
    ) -> Iterator[ComponentOutput]:
        """Finds the passages of the user's files and widget data that fit a question best.

        Args:
            query: What to look for, in the words that the documents are likely to use.
            documents: Names of the documents to look in. Leave it out to look in all of them.
            top_k: How many passages at most, from 1 to 20.
            **kwargs: What the system passes; `_sys_documents` is where to look.

        Yields:
            A reference for each passage, best first: `title` says the document and the page,
            `content` is the passage. Where there is none, a text that says so.

        Raises:
            ValueError: There is no query, a document is unknown, or `top_k` is out of bounds.

        Examples:
            >>> from copilot_admin.agent.components.inputs import DocumentOrigin
            >>> report = SourceDocument(
            ...     "Report", DocumentOrigin.FILE, (("page 7", "Margins fell to 12%."),)
            ... )
            >>> output, = DocumentSearch().tool_eval("margin", _sys_documents=[report])
            >>> output.content[0].text.title, output.content[0].text.content
            ('Report, page 7', 'Margins fell to 12%.')
        """
        _check(query, top_k)
        known = _distinctly_named(documents_in(kwargs))
        chosen = _chosen(known, documents)
        hits = search(query, chosen, most=top_k)
        if not hits:
            yield self.create_output("text", _nothing_found(chosen))
        origins = {document.name: str(document.origin) for document in known}
        for number, hit in enumerate(hits, 1):
            yield self.create_output(
                "references", _reference(hit, number, origin=origins[hit.passage.document])
            )


def _check(query: str, top_k: int) -> None:
    if not query or not query.strip():
        raise ValueError("There is nothing to search for. Say in `query` what to look for.")
    if len(query) > LONGEST_QUERY:
        raise ValueError(
            f"The query is longer than {LONGEST_QUERY} characters. Name what to look for in fewer."
        )
    if type(top_k) is not int or not 1 <= top_k <= MOST_PASSAGES:
        raise ValueError(f"top_k must be a whole number from 1 to {MOST_PASSAGES}, not {top_k!r}.")


def _distinctly_named(documents: Sequence[SourceDocument]) -> list[SourceDocument]:
    named: list[SourceDocument] = []
    taken: set[str] = set()
    for document in documents:
        plain = " ".join(document.name.split()) or "document"
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain} ({number})"
        taken.add(name.lower())
        named.append(replace(document, name=name))
    return named


def _chosen(known: Sequence[SourceDocument], names: Sequence[str]) -> list[SourceDocument]:
    """The documents of these names, whatever their case; all where no name is given.

    Raises:
        ValueError: There is none of a name; the text lists those that there are.
    """
    wanted = [names] if isinstance(names, str) else [str(name) for name in names or ()]
    by_name = {document.name.lower(): document for document in known}
    keys = [" ".join(name.split()).lower() for name in wanted]
    for key, name in zip(keys, wanted, strict=True):
        if key not in by_name:
            raise ValueError(f"There is no document {name!r}. {_listed(known)}")
    return [by_name[key] for key in dict.fromkeys(keys)] or list(known)


def _nothing_found(searched: Sequence[SourceDocument]) -> str:
    if not searched:
        return f"Nothing was searched. {_listed(searched)}"
    words = "Nothing was found: no passage has a word of the query."
    return f"{words} {_listed(searched, words='Searched')}"


def _listed(documents: Sequence[SourceDocument], *, words: str = "There are") -> str:
    if not documents:
        return "This request came without files and widget data. Ask the user for them."
    return f"{words}: {', '.join(document.name for document in documents)}."


def _reference(hit: PassageHit, number: int, *, origin: str) -> dict[str, Any]:
    passage = hit.passage
    return {
        "type": "doc",
        "id": number,
        "doc_id": passage.document,
        "title": ", ".join(filter(None, (passage.document, passage.label))),
        "source": origin,
        "content": passage.text,
        "extra": {"score": round(hit.score, 3)},
    }
