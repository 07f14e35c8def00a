"""How a client is told that something went wrong, without losing its history."""

from protocol.events import Event, MessageChunk, StatusLevel, StatusUpdate


def warning_events(sentence: str) -> tuple[Event, ...]:
    """The events that show a sentence in every generation.

    The status is dropped for generation 1, which then still has the chunk. ERROR is never sent:
    clients delete the last question and answer on it.
    """
    return (StatusUpdate(message=sentence, level=StatusLevel.WARNING), MessageChunk(sentence))
