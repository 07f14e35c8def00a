"""What reviewers have said of a conversation, for its page: six queries, however long it is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from copilot_admin.models import Conversation, TurnNote, Verdict
from copilot_admin.review.queues import judges_of
from copilot_admin.transcripts.store.second_judges import awaits_judges
from copilot_admin.transcripts.verdicts import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """A note; `author` is empty when the person is gone."""

    id: int
    author: str
    at: datetime
    is_edited: bool
    is_own: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """What one reviewer thinks; `labels` those that apply, `scores` with their numbers."""

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
    """What reviewers said of a turn; `hides_notes`: some are left out, as verdicts are."""

    hides_notes: bool = False
    notes: tuple[NoteView, ...] = ()
    verdicts: tuple[VerdictView, ...] = ()

    @property
    def number(self) -> int:
        """How many notes and verdicts the turn has."""
        return len(self.notes) + len(self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What a reader may see of all verdicts.

    Attributes:
        by_turn: Those on the whole conversation under None.
        hides_others: Those of others are left out: he may be the second who judges.
        is_open: He may judge it, and has not.
    """

    by_turn: Mapping[int | None, tuple[VerdictView, ...]]
    hides_others: bool = False
    is_open: bool = False


def verdicts_on(conversation: Conversation, reader: Person, *, is_judge: bool) -> Verdicts:
    """Verdicts by turn; of two judges neither sees the other's, nor his notes, before he has given his own.

    Args:
        conversation: Which.
        reader: Who looks, on whatever way he came.
        is_judge: He may judge it.
    """
    found = _all_verdicts(conversation, reader)
    has_judged = any(one.is_own for one in found.get(None, ()))
    is_open = is_judge and not has_judged
    has_others = any(not one.is_own for some in found.values() for one in some)
    if not (is_open and has_others and awaits_judges(conversation.pk)):
        return Verdicts(by_turn=found, is_open=is_open)
    own = {turn: tuple(one for one in some if one.is_own) for turn, some in found.items()}
    return Verdicts(by_turn=own, hides_others=True, is_open=is_open)


def _all_verdicts(
    conversation: Conversation, reader: Person
) -> Mapping[int | None, tuple[VerdictView, ...]]:
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
    """What was said of some turns, with a query for their notes."""
    wanted = list(turns)
    notes: dict[int, list[NoteView]] = defaultdict(list)
    rows = TurnNote.objects.filter(turn__in=wanted, turn__conversation=conversation)
    found = list(rows.select_related("author").order_by("id"))
    others = {row.author_id for row in found} - {reader.pk}
    unheard = others & _judges(conversation) if others and verdicts.is_open else frozenset()
    for row in found:
        if row.author_id not in unheard:
            notes[row.turn_id].append(_note_view(row, reader))
    hidden = {row.turn_id for row in found if row.author_id in unheard}
    return {
        turn: TurnReview(
            notes=tuple(notes[turn]),
            hides_notes=turn in hidden,
            verdicts=verdicts.by_turn.get(turn, ()),
        )
        for turn in wanted
    }


def _judges(conversation: Conversation) -> frozenset[int | None]:
    """Who has judged what a second person is still to judge, or has a seat to do so.

    What they write in the margin may tell what they think. Somebody who is gone is None.
    """
    if not awaits_judges(conversation.pk):
        return frozenset()
    verdicts = Verdict.objects.filter(conversation=conversation).values_list("author", flat=True)
    return frozenset({*verdicts, *judges_of(conversation.pk)})


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
