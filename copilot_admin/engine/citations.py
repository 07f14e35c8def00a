"""Cites the widgets whose data an answer could see."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from uuid import UUID, uuid5

from copilot_admin.engine.client.widget_data import name_of
from copilot_admin.engine.files.quotes import page_of, quotes
from copilot_admin.engine.files.reading import files_in
from copilot_admin.engine.values.turn import Fetched, fetched_in_turn
from protocol.events import Citation, CitationCollection
from protocol.json import Json, JsonObject
from protocol.messages import SourceData, SourceResult
from protocol.query import Query


def cited_widgets(query: Query, *, answer_id: UUID, answer: str = "") -> CitationCollection | None:
    """One citation for each widget and arguments that returned data in this turn.

    Where a parameter of the widget says so, each of its values has a citation of its own.

    Args:
        query: The query whose last messages hold the data.
        answer_id: Makes the ids of the citations; another answer has others.
        answer: Its text, where what it quotes of documents is to be marked on their pages.
    """
    used = [one for one in _distinct(fetched_in_turn(query)) if _is_citable(one)]
    if not used:
        return None
    cited = (one for each in used for one in _split(each))
    return CitationCollection(
        tuple(
            _citation(one, id=uuid5(answer_id, f"citation {number}"), answer=answer)
            for number, one in enumerate(cited)
        )
    )


def _split(fetched: Fetched) -> Iterator[Fetched]:
    """One for each value of the parameter that is split, with the file of that name if it has one.

    Source: `split_param_on_citation` of a widget's parameter, for those that take several values.
    """
    params = fetched.widget.params if fetched.widget else ()
    name = next((one.name for one in params if one.split_on_citation and one.multi_select), "")
    values = fetched.source.input_args.get(name)
    if not isinstance(values, list | tuple) or len(values) < 2:
        yield fetched
        return
    for value in values:
        source = replace(fetched.source, input_args={**fetched.source.input_args, name: value})
        yield replace(fetched, source=source, result=_of_value(fetched.result, value))


def _of_value(result: SourceResult, value: Json) -> SourceResult:
    """The items that are the file of this name; all of them where none is."""
    if not isinstance(result, SourceData):
        return result
    mine = tuple(item for item in result.items if item.data_format.get("filename") == value)
    return replace(result, items=mine) if mine else result


def _citation(fetched: Fetched, *, id: UUID, answer: str) -> Citation:
    source, widget = fetched.source, fetched.widget
    name = name_of(widget) if widget else source.id or source.widget_uuid or ""
    arguments = dict(source.input_args)
    boxes = _quoted(fetched, answer)
    about: dict[str, Json] = {
        "uuid": source.widget_uuid or (widget.uuid if widget else None),
        "origin": source.origin or (widget.origin if widget else ""),
        "widget_id": source.id or (widget.widget_id if widget else ""),
        "name": name,
        "description": widget.description if widget else "",
    }
    return Citation(
        id=str(id),
        source_info={
            "type": "widget",
            **{key: value for key, value in about.items() if value},
            "metadata": {"input_args": arguments},
            "citable": True,
        },
        details=({"Name": name, **_pages(boxes), **arguments},),
        quote_bounding_boxes=boxes,
    )


def _quoted(fetched: Fetched, answer: str) -> tuple[tuple[JsonObject, ...], ...]:
    """The boxes of what the answer quotes of the files that the source returned."""
    items = fetched.result.items if isinstance(fetched.result, SourceData) else ()
    return tuple(
        boxes for document in files_in(items) if answer for boxes in quotes(answer, document)
    )


def _pages(boxes: Sequence[Sequence[JsonObject]]) -> JsonObject:
    pages = dict.fromkeys(map(page_of, boxes))
    return {"Page": ", ".join(map(str, pages))} if pages else {}


def _is_citable(fetched: Fetched) -> bool:
    result = fetched.result
    return isinstance(result, SourceData) and any(item.citable for item in result.items)


def _distinct(fetched: Iterable[Fetched]) -> Iterable[Fetched]:
    seen: list[object] = []
    for one in fetched:
        if one.source not in seen:
            seen.append(one.source)
            yield one
