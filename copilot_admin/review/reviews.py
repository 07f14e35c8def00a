"""Verdicts and notes on a conversation for its page, in a constant number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from copilot_admin.models import Conversation, TurnNote, Verdict
from copilot_admin.transcripts.verdicts import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """A note; `author` is "" if the account was deleted."""

    id: int
    author: str
    at: datetime
    is_edited: bool
    is_own: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """Verdict of one reviewer."""

    author: str
    is_own: bool
    rating: str
    rating_label: str
    labels: tuple[str, ...]
    scores: tuple[tuple[str, int], ...]
    comment: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReview:
    """Notes and verdicts on a turn."""

    notes: tuple[NoteView, ...] = ()
    verdicts: tuple[VerdictView, ...] = ()

    @property
    def number(self) -> int:
        """Number of notes and verdicts."""
        return len(self.notes) + len(self.verdicts)


Verdicts = Mapping[int | None, tuple[VerdictView, ...]]  # by turn; of the whole under None


def verdicts_on(conversation: Conversation, reader: Person) -> Verdicts:
    """Return all verdicts on a conversation and its turns."""
    rows = Verdict.objects.filter(conversation=conversation).select_related("author")
    by_turn: dict[int | None, list[VerdictView]] = defaultdict(list)
    for row in rows.prefetch_related("marks__criterion").order_by("id"):
        by_turn[row.turn_id].append(_verdict_view(row, reader))
    return {turn: tuple(some) for turn, some in by_turn.items()}


def turn_reviews(
    conversation: Conversation,
    turns: Iterable[int],
    verdicts: Verdicts,
    reader: Person,
) -> Mapping[int, TurnReview]:
    """Return the notes and verdicts of some turns."""
    wanted = list(turns)
    notes: dict[int, list[NoteView]] = defaultdict(list)
    rows = TurnNote.objects.filter(turn__in=wanted, turn__conversation=conversation)
    for row in rows.select_related("author").order_by("id"):
        notes[row.turn_id].append(_note_view(row, reader))
    return {
        turn: TurnReview(notes=tuple(notes[turn]), verdicts=verdicts.get(turn, ()))
        for turn in wanted
    }


def _note_view(note: TurnNote, reader: Person) -> NoteView:
    return NoteView(
        id=note.pk,
        author=note.author.get_username() if note.author else "",
        at=note.created_at,
        is_edited=note.updated_at != note.created_at
        and (note.updated_at - note.created_at).seconds > 0,
        is_own=note.author_id == reader.pk,
        text=note.text,
    )


def _verdict_view(verdict: Verdict, reader: Person) -> VerdictView:
    marks = sorted(verdict.marks.all(), key=lambda m: (m.criterion.position, m.criterion.name))
    return VerdictView(
        author=verdict.author.get_username() if verdict.author else "",
        is_own=verdict.author_id == reader.pk,
        rating=verdict.rating,
        rating_label=verdict.get_rating_display(),
        labels=tuple(one.criterion.name for one in marks if one.criterion.kind == "label"),
        scores=tuple(
            (one.criterion.name, one.value) for one in marks if one.criterion.kind == "score"
        ),
        comment=verdict.comment,
        at=verdict.updated_at,
    )
