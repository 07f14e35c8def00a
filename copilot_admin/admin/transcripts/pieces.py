"""Single pieces of a turn, found by the key that its page gives them."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from copilot_admin.admin.blocks.blocks import blocks_of, some_answered
from copilot_admin.admin.blocks.contents import ALONE, DataExcerpt, ShownRoom
from copilot_admin.transcripts.queries import RunView, TurnView


def content_by_key(turn: TurnView, key: str, *, first: int = 0) -> DataExcerpt | None:
    """All of a piece of data that a page shows the beginning of; a table from one row on."""
    room = replace(ALONE, first=first)
    for content in _contents(_alone(turn, key, room)):
        if content.key == key:
            return content
    return None


def _alone(turn: TurnView, key: str, room: ShownRoom) -> Iterator[object]:
    for run in turn.runs:
        if _may_hold(run, key):
            yield tuple(blocks_of(run, room=room, formatted=False))
            yield tuple(some_answered(run.received, room=room))


def _may_hold(run: RunView, key: str) -> bool:
    if key.startswith("r"):
        return key.startswith(f"r{run.id.hex}-")
    messages = [*run.received, *(run.call.results if run.call else ())]
    return any(key.startswith(f"n{message.node_id}-") for message in messages)


def _contents(value: object) -> Iterator[DataExcerpt]:
    if isinstance(value, DataExcerpt):
        yield value
    elif isinstance(value, list | tuple | Iterator):
        for one in value:
            yield from _contents(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _contents(getattr(value, field.name))
