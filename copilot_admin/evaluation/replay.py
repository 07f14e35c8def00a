"""A stored question as one that can be tried again: the words of a copilot file, for the playground."""

from collections.abc import Iterator, Mapping, Sequence

from copilot_admin.transcripts.queries import MessageView, TurnView
from protocol.json import Json, JsonObject, list_of, objects_of

PLACES = ("primary", "secondary", "extra")


def question_of(path: Sequence[TurnView], request: Json) -> JsonObject:
    """A question with what was said before it, its data and its options.

    Args:
        path: The turns down to the question, which is the last.
        request: What came with it, without messages and secrets; None: not kept.
    """
    *before, turn = path
    asked = request if isinstance(request, Mapping) else {}
    found = dict(_data(turn))
    options = asked.get("workspace_options")
    tools, skills = asked.get("tools"), asked.get("skills_catalog")
    return {
        "question": turn.question.text if turn.question else "",
        "earlier": [*(message for one in before for message in _said(one)), *_history(turn)],
        "widgets": list(_widgets(asked.get("widgets"), found)),
        "options": options if isinstance(options, Mapping) else {},
        "tools": objects_of(tools),
        "skills": objects_of(skills),
        "timezone": str(asked.get("timezone") or "UTC"),
        "model": asked["model"] if isinstance(asked.get("model"), str) else "",
    }


def _said(turn: TurnView) -> Iterator[JsonObject]:
    yield from _history(turn)
    if turn.question is not None:
        yield {"role": "human", "content": turn.question.text}
    answers = [run.answer for run in turn.runs if run.answer]
    if answers:
        yield {"role": "ai", "content": answers[-1]}


def _history(turn: TurnView) -> Iterator[JsonObject]:
    yield from ({"role": m.role, "content": m.text} for m in turn.history if m.kind == "text")


def _widgets(widgets: Json, found: Mapping[str, Sequence[Json]]) -> Iterator[JsonObject]:
    places = widgets if isinstance(widgets, Mapping) else {}
    for place in PLACES:
        for widget in objects_of(places.get(place)):
            uuid, name = str(widget.get("uuid", "")), str(widget.get("widget_id", ""))
            items = found.get(uuid) or found.get(name) or ()
            yield {"widget": widget, "place": place, "items": list(items)}


def _data(turn: TurnView) -> Iterator[tuple[str, Sequence[Json]]]:
    for run in turn.runs:
        results = (*run.received, *(run.call.results if run.call else ()))
        for message in results:
            yield from _sources(message)


def _sources(message: MessageView) -> Iterator[tuple[str, Sequence[Json]]]:
    data = message.data or {}
    arguments = data.get("input_arguments")
    asked = arguments.get("data_sources") if isinstance(arguments, Mapping) else None
    for source, result in zip(objects_of(asked), list_of(data.get("data")), strict=False):
        items = result.get("items") if isinstance(result, Mapping) else None
        if isinstance(items, list):
            yield from (
                (str(source[key]), items) for key in ("id", "widget_uuid") if source.get(key)
            )
