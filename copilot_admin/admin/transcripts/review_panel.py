"""What the page of a conversation shows of its review."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils import timezone

from copilot_admin.admin.transcripts.beside import place_of
from copilot_admin.admin.transcripts.verdict_form import VerdictForm
from copilot_admin.admin.transcripts.way import Way
from copilot_admin.models import Conversation, ReviewQueue, ReviewState
from copilot_admin.review.queues import Progress, holds, progress_of
from copilot_admin.review.reviews import VerdictView
from copilot_admin.review.verdicts import Person, active_criteria, verdict_of

STATE_KEYS = {ReviewState.NEW: "u", ReviewState.IN_REVIEW: "r", ReviewState.DONE: "x"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The panel in which a conversation is judged.

    Attributes:
        states: Value, name and key of each state.
        verdicts: What reviewers said of the whole; of others only once the reader has judged,
            where a queue wants two judges.
        hides_others: Some are not shown for that reason.
        queue: The one that is read, with its progress; None along a list.
        way: On which he came, with the place from which he goes on.
        left: He reads a queue without a seat for this conversation (any more).
    """

    form: VerdictForm
    states: Sequence[tuple[str, str, str]]
    verdicts: Sequence[VerdictView]
    hides_others: bool
    way: Way
    queue: ReviewQueue | None
    progress: Progress | None
    left: bool


def panel_of(
    conversation: Conversation,
    reader: Person,
    way: Way,
    verdicts: Mapping[int | None, tuple[VerdictView, ...]],
    *,
    form: VerdictForm | None = None,
) -> Panel:
    """Reads what the panel needs.

    Args:
        conversation: Which.
        reader: Who judges.
        way: On which way he came.
        verdicts: Of everybody, by turn.
        form: What he has sent and has to mend.
    """
    own = verdict_of(conversation, reader)
    queue = ReviewQueue.objects.filter(pk=way.queue).first() if way.queue is not None else None
    blind = queue is not None and queue.judges > 1 and own is None
    said = verdicts.get(None, ())
    shown = [one for one in said if one.is_own or not blind]
    return Panel(
        form=form or VerdictForm(criteria=active_criteria(), verdict=own),
        states=[(state.value, str(state.label), STATE_KEYS[state]) for state in ReviewState],
        verdicts=shown,
        hides_others=len(shown) < len(said),
        way=replace(way, place=place_of(conversation, way.place)),
        queue=queue,
        progress=progress_of(queue, now=timezone.now()) if queue else None,
        left=queue is not None and not holds(queue, conversation.pk, reader),
    )
