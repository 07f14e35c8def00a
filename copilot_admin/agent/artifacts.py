"""Artifacts of an answer: names that no other artifact of the conversation has, and pictures.

Source: a client finds the artifacts of a conversation by their names. A name is unchanged while it
is free; the next artifact of that name is called "Prices 2". The name is put into an attribute of
a tag, between double quotes and on one line, and into the history between markers. A client may
render it as Markdown, so it contains no image.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
import re
from uuid import UUID

from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from protocol.citations import MAX_ID_CHARACTERS
from protocol.events import ArtifactType, Event, FunctionCall, MessageArtifact, StatusUpdate
from protocol.json import list_of
from protocol.models import AiMessage, Query, ResultMessage

CARRIED = "artifact_names"  # in `extra_state`: a client returns it with the result of a call
# Of an event: clients and servers accept events of up to a megabyte.
_MAX_PICTURE_CHARACTERS = 900_000
_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")


class ArtifactNames:
    """Names of the artifacts in a conversation; `taken` are those before this step."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._given: list[str] = []

    def reserve(self, name: str) -> str:
        """Reserve a name, with a number appended if it is in use."""
        line = " ".join(name.replace('"', "'").splitlines())[:MAX_ID_CHARACTERS]
        free = name = without_remote_images(line, sources=())[:MAX_ID_CHARACTERS]
        numbers = count(2)
        while free in self._taken:
            suffix = f" {next(numbers)}"
            free = f"{name[: MAX_ID_CHARACTERS - len(suffix)]}{suffix}"
        self._taken.add(free)
        self._given.append(free)
        return free

    def rename(self, event: Event) -> Event:
        if isinstance(event, MessageArtifact):
            return self._renamed(event)
        if isinstance(event, StatusUpdate):
            return replace(event, artifacts=tuple(map(self._renamed, event.artifacts)))
        return event

    def _renamed(self, artifact: MessageArtifact) -> MessageArtifact:
        return replace(artifact, artifact_name=self.reserve(artifact.artifact_name))

    def carry(self, call: FunctionCall) -> FunctionCall:
        if not self._given:
            return call
        return replace(call, extra_state={**call.extra_state, CARRIED: list(self._given)})


def find_artifact_names(query: Query) -> Iterator[str]:
    yield from (item.name for item in query.context)
    for message in query.messages:
        if isinstance(message, AiMessage):
            yield from message.artifacts
        elif isinstance(message, ResultMessage):
            names = list_of(message.extra_state.get(CARRIED))
            yield from (name for name in names if isinstance(name, str))


def picture_artifact(url: str, *, id: UUID) -> MessageArtifact | None:
    """Return a picture as HTML, or None if it is external, too large, or possibly harmful."""
    if len(url) > _MAX_PICTURE_CHARACTERS or not _PICTURE.fullmatch(url):
        return None
    return MessageArtifact(
        type=ArtifactType.HTML,
        uuid=str(id),
        artifact_name="Picture",
        description="A picture that the model made.",
        content=f'<img src="{url}" alt="Picture">',
    )
