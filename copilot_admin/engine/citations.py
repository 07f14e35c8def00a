"""Cites the widgets whose data an answer could see."""

from collections.abc import Iterable, Sequence
from uuid import UUID, uuid5

from copilot_admin.engine.files import files_in
from copilot_admin.engine.quotes import page_of, quotes
from copilot_admin.engine.turn import Fetched, fetched_in_turn
from copilot_admin.engine.widget_data import name_of
from protocol.events import Citation, CitationCollection
from protocol.json import Json, JsonObject
from protocol.messages import SourceData
from protocol.query import Query


def cited_widgets(query: Query, *, answer_id: UUID, answer: str = "") -> CitationCollection | None:
    """One citation for each widget and arguments that returned data in this turn.

    Args:
        query: The query whose last messages hold the data.
        answer_id: Makes the ids of the citations; another answer has others.
        answer: Its text, where what it quotes of documents is to be marked on their pages.
    """
    used = [one for one in _distinct(fetched_in_turn(query)) if _is_citable(one)]
    if not used:
        return None
    return CitationCollection(
        tuple(
            _citation(one, id=uuid5(answer_id, f"citation {number}"), answer=answer)
            for number, one in enumerate(used)
        )
    )


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
