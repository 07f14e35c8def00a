"""Transcripts as one text, written conversation by conversation; what is in memory does not grow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from copilot_admin.models import Conversation
from copilot_admin.transcripts.exports.conversations import ExportedConversation, ExportOptions
from copilot_admin.transcripts.exports.format import About, ExportFormat
from copilot_admin.transcripts.exports.gathering import gathered
from copilot_admin.transcripts.exports.selection import Selection, next_window, stays

READ_AT_ONCE = 50  # rows of conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWalk:
    """What is written, and how."""

    selection: Selection
    format: ExportFormat
    options: ExportOptions


@dataclass(frozen=True, slots=True)
class Passed:
    """That everything down to an id was written.

    Attributes:
        n_turns: Of the conversation that ended here; None where a window had nothing more, or
            it was deleted while it was read.
        may_rest: No text is read ahead; what is deleted while it rests will not be written.
    """

    position: int
    n_turns: int | None = None
    may_rest: bool = True


def written(walk: ExportWalk, below: int) -> Iterator[str | Passed]:
    """The texts of the conversations below an id, and after each how far it has come."""
    while (window := next_window(walk.selection, below)) is not None:
        below = window.below
        for exported, is_last in _read(window.ids, walk.options):
            yield from walk.format.conversation(exported)
            n_turns = None if exported.is_gone else exported.n_turns
            yield Passed(exported.row.pk, n_turns, may_rest=is_last)
        yield Passed(below)


def whole(walk: ExportWalk, about: About, below: int) -> Iterator[str | Passed]:
    """A whole file from its head to its end."""
    yield from walk.format.begin(about)
    yield from written(walk, below)
    yield from walk.format.end()


def _read(
    ids: Sequence[int], options: ExportOptions
) -> Iterator[tuple[ExportedConversation, bool]]:
    for start in range(0, len(ids), READ_AT_ONCE):
        some = ids[start : start + READ_AT_ONCE]
        rows = Conversation.objects.select_related("copilot", "user").filter(stays(), pk__in=some)
        for shelf in gathered(list(rows.order_by("-pk")), options):
            for exported in shelf:
                yield exported, exported is shelf[-1]
