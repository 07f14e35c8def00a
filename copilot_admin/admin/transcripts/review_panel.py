"""What the page of a conversation shows of its review."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils import timezone

from copilot_admin.admin.transcripts.beside import place_of
from copilot_admin.admin.transcripts.verdict_form import VerdictForm
from copilot_admin.admin.transcripts.way import Way
from copilot_admin.models import Conversation, ReviewQueue, ReviewState
from copilot_admin.review.queues import QueueProgress, holds, progress_of
from copilot_admin.review.reviews import Verdicts, VerdictView
from copilot_admin.transcripts.verdicts import Person, active_criteria, verdict_of

STATE_KEYS = {ReviewState.NEW: "u", ReviewState.IN_REVIEW: "r", ReviewState.DONE: "x"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The panel in which a conversation is judged.

    Attributes:
        states: Value, name and key of each state.
        verdicts: What reviewers said of the whole, as far as the reader may see it.
        hides_others: Some are not shown: he may be the second who judges.
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
    progress: QueueProgress | None
    left: bool


def panel_of(
    conversation: Conversation,
    reader: Person,
    way: Way,
    verdicts: Verdicts,
    *,
    form: VerdictForm | None = None,
) -> Panel:
    """Reads what the panel needs.

    Args:
        conversation: Which.
        reader: Who judges.
        way: On which way he came.
        verdicts: What he may see of everybody's.
        form: What he has sent and has to mend.
    """
    own = verdict_of(conversation, reader)
    queue = ReviewQueue.objects.filter(pk=way.queue).first() if way.queue is not None else None
    return Panel(
        form=form or VerdictForm(criteria=active_criteria(), verdict=own),
        states=[(state.value, str(state.label), STATE_KEYS[state]) for state in ReviewState],
        verdicts=verdicts.by_turn.get(None, ()),
        hides_others=verdicts.hides_others,
        way=replace(way, place=place_of(conversation, way.place)),
        queue=queue,
        progress=progress_of(queue, now=timezone.now()) if queue else None,
        left=queue is not None and not holds(queue, conversation.pk, reader),
    )
