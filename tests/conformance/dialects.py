"""Bodies as a client of each generation writes them, and what its user is told beside the answer."""

from collections.abc import Mapping
from typing import Any

from protocol.models import Generation
from tests.wire import Line
from tests.workspace.client import Event, named, text_of
from tests.workspace.stream import events_of

QUESTION = {"role": "human", "content": "Well?"}
_FLAT = ("uuid", "name", "description", "metadata")


def offered(generation: Generation, *widgets: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a body that offers widgets, and by which its generation is known."""
    match generation:
        case Generation.ONE:
            return {"widgets": [{key: one[key] for key in _FLAT if key in one} for one in widgets]}
        case Generation.TWO:
            without = [{**one, "uuid": None} for one in widgets]
            other = {"origin": "o", "widget_id": "w", "name": "Other"}
            return {"widgets": {"primary": without or [other], "secondary": [], "extra": []}}
    return {"widgets": {"primary": list(widgets)}, "timezone": "UTC"}


def asks(service: str, slug: str, body: Mapping[str, Any]) -> list[Event]:
    """The answer to a body."""
    url = f"{service}/v1/copilots/{slug}/query"
    with Line(url, body=body, headers={"X-Trace-Id": "chat-1"}) as line:
        stream = line.read_all()
    assert line.status == 200, stream
    return events_of(stream)


def told(events: list[Event], generation: Generation, *, answer: str) -> list[str]:
    """What the user is told besides the answer: in steps, else in paragraphs before it."""
    steps = [step["message"] for step in named(events, "copilotStatusUpdate")]
    words = text_of(events)
    assert words.endswith(answer), words
    if generation is Generation.ONE:
        assert steps == []
        return words.removesuffix(answer).split("\n\n")[:-1]
    return steps
