"""Gives artifacts names that no other artifact of the chat has.

Source: a client finds the artifacts of a chat by their names. A name stays as it was given while it
is free; the next of that name is called "Prices 2".

Source: the name stands in an attribute of a tag, between double quotes and on one line, and in the
history between marks. So double quotes become single ones, and a name is as long as one is read.
No image stands in it: a client may draw it as Markdown.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from protocol.citations import MAX_ID_CHARACTERS
from protocol.events import Event, FunctionCall, MessageArtifact, StatusUpdate
from protocol.json import Json
from protocol.models import AiMessage, Query, ResultMessage

# In `extra_state`: a client brings it back with the result of a call, and asks no more of it.
CARRIED = "artifact_names"
# After so many tries for one artifact, numbers are left out in ever larger steps: a client that says
# that a million are taken would have each of them tried amid the event loop.
_COUNTED = 100


class ArtifactNames:
    """The names that are taken in a chat.

    Args:
        taken: By the artifacts there are before this leg.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # the last one that was tried for a name
        self._given: list[str] = []  # in this leg

    def free(self, name: str) -> str:
        """The name, or the same with a number if it is taken; from now on it is."""
        name = _readable(name)
        free, number, step, tries = name, self._numbers.get(name, 1), 1, 0
        while free in self._taken:
            tries += 1
            step *= 1 if tries <= _COUNTED else 2
            number += step
            suffix = f" {number}"
            free = f"{name[: MAX_ID_CHARACTERS - len(suffix)]}{suffix}"
        self._numbers[name] = number
        self._taken.add(free)
        self._given.append(free)
        return free

    def named(self, event: Event) -> Event:
        """The event, with names of their own for the artifacts in it."""
        match event:
            case MessageArtifact():
                return replace(event, artifact_name=self.free(event.artifact_name))
            case StatusUpdate(artifacts=(_, *_)):
                artifacts = (
                    replace(one, artifact_name=self.free(one.artifact_name))
                    for one in event.artifacts
                )
                return replace(event, artifacts=tuple(artifacts))
        return event

    def carried_by(self, call: FunctionCall) -> FunctionCall:
        """The call, with the names of this leg for the leg after it."""
        if not self._given:
            return call
        names: list[Json] = list(self._given)
        return replace(call, extra_state={**call.extra_state, CARRIED: names})


def names_in(query: Query) -> Iterator[str]:
    """The names that a request shows to be taken: in its context, its history and earlier legs."""
    yield from (item.name for item in query.context)
    for message in query.messages:
        if isinstance(message, AiMessage):
            yield from message.artifacts
        elif isinstance(message, ResultMessage):
            carried = message.extra_state.get(CARRIED)
            names = carried if isinstance(carried, list | tuple) else ()
            yield from (name for name in names if isinstance(name, str))


def _readable(name: str) -> str:
    line = " ".join(name.replace('"', "'").splitlines())[:MAX_ID_CHARACTERS]
    return without_remote_images(line, sources=())[:MAX_ID_CHARACTERS]
