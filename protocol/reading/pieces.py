"""Counts what a request brings in pieces, before any of them is read.

A number in a list is two bytes of a body. Where it stands for what one source returned, it becomes an
object with items of its own, a block of the prompt with its name, and a line of the transcript.
"""

from collections.abc import Iterator, Sequence

from protocol.json import Json, JsonObject, list_of, object_of, objects_of
from protocol.models import CallMessage, Message, ResultMessage
from protocol.reading.data import are_rows

MOST_PIECES = 10_000  # which take 30 MB and half a second; a chat of a day has some hundreds


def has_more_pieces(messages: Sequence[Json], context: Json, *, most: int = MOST_PIECES) -> bool:
    """Whether a request brings more results and items than this.

    Args:
        messages: Those of the request, as they came.
        context: Its artifacts or data of widgets, as they came.
        most: So many are taken.
    """
    left = most
    for some in _lists(messages, context):
        left -= len(some)
        if left < 0:  # before anybody looks into the elements of one list too long
            return True
    return False


def names_more_sources(messages: Sequence[Message], *, most: int = MOST_PIECES) -> bool:
    """Whether the calls of a chat and their results name more sources than this.

    It is asked of what was read, as a call may have come as a text.
    """
    calls = (one for one in messages if isinstance(one, CallMessage | ResultMessage))
    return sum(_named(one.input_arguments) for one in calls) > most


def _named(arguments: JsonObject) -> int:
    return sum(len(list_of(arguments.get(name))) for name in ("data_sources", "widget_uuids"))


def _lists(messages: Sequence[Json], context: Json) -> Iterator[Sequence[Json]]:
    yield from _within(list_of(context) or [context])
    for message in map(object_of, messages):
        for told in (message.get("data"), message.get("content")):
            if told is None or isinstance(told, str):  # as nearly always: nothing lies in it
                yield (told,)
                continue
            one_table = not isinstance(told, list | tuple) or are_rows(told)
            yield from _within([told] if one_table else list_of(told))


def _within(sources: Sequence[Json]) -> Iterator[Sequence[Json]]:
    yield sources
    for source in objects_of(sources):
        for told in (source, object_of(source.get("data")), object_of(source.get("content"))):
            yield list_of(told.get("items"))
            yield list_of(told.get("extra_citations"))
