"""Citations of an answer: widgets whose data the model saw, citations in that data, web pages."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
import json
from typing import TypeAlias
from uuid import UUID, uuid5

from copilot_admin.agent.client.widget_data import name_of
from copilot_admin.agent.documents.document import find_quotes, page_of
from copilot_admin.agent.files.reading import files_in
from copilot_admin.agent.values.model_call import WebSource
from copilot_admin.agent.values.turn import Fetched, fetched_in_turn, messages_of_turn
from protocol.citations import read_citation
from protocol.events import Citation, CitationCollection, Event, StatusLevel, StatusUpdate
from protocol.json import JsonObject
from protocol.models import DataItem, FileReference, Query, ResultMessage, SourceData

MAX_CITATIONS = 500  # of one answer; the limit of requested widgets as well
NOT_ALL_CITED = "The answer rests on more sources than are cited here."
_MAX_DESCRIPTION = 1_000  # characters; each value of a parameter repeats its widget's
# Empty results of sources: no text, no rows, no value.
_EMPTY = frozenset({"", '""', "[]", "{}", "[{}]", "null"})
_MAX_EMPTY = 20  # characters, with blanks between them
_Boxes: TypeAlias = tuple[tuple[JsonObject, ...], ...]


def cite_widgets(query: Query, *, answer_id: UUID, answer: str = "") -> Iterator[Citation]:
    """Yield a citation for each distinct widget call with data in this turn, then extra citations.

    Values of a split parameter are cited one by one. `answer_id` is the namespace for ids. Quotes
    in the text of `answer` are marked on the pages of documents.
    """
    used: dict[str, Fetched] = {}
    for one in fetched_in_turn(query):
        key = json.dumps([one.source.widget_uuid, one.source.to_json()], sort_keys=True)
        if isinstance(one.result, SourceData) and any(map(_has_content, one.result.items)):
            used.setdefault(key, one)
    cited = (one for each in used.values() for one in _split(each))
    for number, one in enumerate(cited):
        documents = files_in(_items(one)) if answer else ()
        boxes = tuple(box for document in documents for box in find_quotes(answer, document))
        yield _citation(one, id=uuid5(answer_id, f"citation {number}"), boxes=boxes)
    yield from _cite_extra(query, answer_id=answer_id)


def collect_citations(citations: Iterable[Citation]) -> Iterator[Event]:
    """Yield the citations as one event, and a warning if they exceed the limit."""
    taken = tuple(islice(citations, MAX_CITATIONS + 1))
    if taken:
        yield CitationCollection(taken[:MAX_CITATIONS])
    if len(taken) > MAX_CITATIONS:
        yield StatusUpdate(message=NOT_ALL_CITED, level=StatusLevel.WARNING)


def cite_web_sources(sources: Iterable[WebSource], *, answer_id: UUID) -> Iterator[Citation]:
    """Yield a citation for each page found by the provider's web search, or other named source.

    Source: a client hides details named url, source or id; hence "Link".
    """
    for source in sources:
        about: JsonObject = {"name": source.title or source.url, "description": source.text}
        details: JsonObject = {"Title": source.title, "Link": source.url}
        yield Citation(
            id=str(uuid5(answer_id, f"web {source.url or source.title}")),
            source_info={
                "type": "web" if source.url else "direct retrieval",
                **_filled(about),
                "metadata": {"url": source.url} if source.url else {},
                "citable": True,
            },
            details=(_filled(details),),
        )


def _cite_extra(query: Query, *, answer_id: UUID) -> Iterator[Citation]:
    """Yield the distinct citations that were sent with the data of this turn.

    Source: `extra_citations` of the result of a source or a tool. Clients that display those of a
    tool directly know them by id. One without an id may repeat one that has an id elsewhere.
    """
    results = (
        one
        for message in messages_of_turn(query)
        if isinstance(message, ResultMessage)
        for one in message.data
        if isinstance(one, SourceData)
    )
    found: dict[str, Citation] = {}
    named: set[str] = set()  # ids that would have been generated for citations with their own id
    for raw in (given for one in results for given in one.extra_citations):
        same = json.dumps({key: one for key, one in raw.items() if key != "id"}, sort_keys=True)
        made = uuid5(answer_id, f"extra citation {same}")
        citation = read_citation(raw, id=made)
        if citation is not None:
            found.setdefault(citation.id, citation)
            named |= {str(made)} - {citation.id}
    yield from (one for one in found.values() if one.id not in named)


def _split(fetched: Fetched) -> Iterator[Fetched]:
    """Yield one result for each value of a split parameter, with the file of that name if any.

    Source: `split_param_on_citation` of a widget's parameter that has several values.
    """
    params = fetched.widget.params if fetched.widget else ()
    name = next((one.name for one in params if one.split_on_citation and one.multi_select), "")
    values = fetched.source.input_args.get(name)
    if not isinstance(values, list | tuple) or len(values) < 2:
        yield fetched
        return
    for value in values:
        source = replace(fetched.source, input_args={**fetched.source.input_args, name: value})
        items = [one for one in _items(fetched) if one.data_format.get("filename") == value]
        result = SourceData(tuple(items)) if items else fetched.result
        yield replace(fetched, source=source, result=result)


def _items(fetched: Fetched) -> tuple[DataItem | FileReference, ...]:
    return fetched.result.items if isinstance(fetched.result, SourceData) else ()


def _citation(fetched: Fetched, *, id: UUID, boxes: _Boxes) -> Citation:
    source, widget = fetched.source, fetched.widget
    name = name_of(widget) if widget else source.id or source.widget_uuid or ""
    pages = ", ".join(map(str, dict.fromkeys(map(page_of, boxes))))
    about: JsonObject = {
        "uuid": source.widget_uuid or (widget.uuid if widget else None),
        "origin": source.origin or (widget.origin if widget else ""),
        "widget_id": source.id or (widget.widget_id if widget else ""),
        "name": name,
        "description": widget.description[:_MAX_DESCRIPTION] if widget else "",
    }
    return Citation(
        id=str(id),
        source_info={
            "type": "widget",
            **_filled(about),
            "metadata": {"input_args": dict(source.input_args)},
            "citable": True,
        },
        details=({"Name": name, **({"Page": pages} if pages else {}), **source.input_args},),
        quote_bounding_boxes=boxes,
    )


def _filled(about: JsonObject) -> JsonObject:
    return {key: value for key, value in about.items() if value}


def _has_content(item: DataItem | FileReference) -> bool:
    if not item.citable or isinstance(item, FileReference):
        return False
    text = item.content.strip()
    return len(text) > _MAX_EMPTY or "".join(text.split()) not in _EMPTY
