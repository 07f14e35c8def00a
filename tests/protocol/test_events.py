"""What holds for every event: those of today, and some that nothing but their class knows."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import pytest

from protocol.events import Event, MessageChunk
from protocol.models import Generation
from protocol.serializers import payload, serialize
from protocol.sse import encode
from tests.protocol.examples import EVENT_CLASSES, example_of
from tests.protocol.workspace import as_workspace_reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Tomorrow(Event):
    """An event of a later release."""

    name: ClassVar[str] = "copilotTomorrow"

    title: str = ""
    app: dict
    refs: tuple[str, ...] = ()
    note: str | None = None
    order: int = 1


@dataclass(frozen=True, slots=True)
class Pause(Event):
    """An event that says nothing but its name."""

    name: ClassVar[str] = "copilotPause"


def nulls(value: Any) -> Iterator[None]:
    """Nulls outside of widget arguments and table cells, where the client's own belong."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key not in ("input_args", "content"):
                yield from nulls(member)
    elif isinstance(value, list):
        for element in value:
            yield from nulls(element)
    elif value is None:
        yield value


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "bare"])
@pytest.mark.parametrize("event", [*EVENT_CLASSES, Tomorrow, Pause])
class TestEveryEvent:
    @pytest.mark.parametrize("generation", Generation)
    def test_is_read_by_workspace_as_it_was_said(self, event, whole, generation):
        said = serialize(example_of(event, whole=whole), generation)
        sent = b"".join(encode(*one) for one in said)
        assert as_workspace_reads(sent) == list(said)

    @pytest.mark.parametrize("generation", Generation)
    def test_is_not_said_to_a_client_that_does_not_know_it(self, event, whole, generation):
        names = {name for name, _ in serialize(example_of(event, whole=whole), generation)}
        known = event.understood_since <= generation
        assert names <= {event.name if known else MessageChunk.name}

    def test_holds_no_null(self, event, whole):
        assert not list(nulls(payload(example_of(event, whole=whole))))


@pytest.mark.parametrize("event", [*EVENT_CLASSES, Tomorrow, Pause])
def test_generation_three_is_told_every_field(event):
    assert len(payload(example_of(event, whole=True))) == len(fields(event))
