"""Saved questions asked in the background: handed to the server's loop, or done by a worker."""

from collections.abc import Iterable, Sequence
from functools import partial

from django.db import transaction
from django_tasks import task

from copilot_admin.evaluation.question_asker import Asker, QuestionDesk
from copilot_admin.evaluation.question_queue import claim_stalled, queue
from copilot_admin.jobs.tasks import enqueue_stalled
from copilot_admin.models import SavedQuestion, Side


@task
def ask_saved_questions(copilot_id: int) -> None:
    """Has the questions asked that a copilot waits for."""
    if Asker(QuestionDesk(copilot_id)).ask_in_turn():
        ask_saved_questions.enqueue(copilot_id)


def ask_in_background(
    copilot_id: int,
    questions: Sequence[SavedQuestion],
    sides: Iterable[Side],
    *,
    user_id: int | None,
) -> int:
    """Has questions of a copilot asked, and says how many answers are awaited."""
    with transaction.atomic():
        awaited = queue(questions, tuple(sides), user_id=user_id)
        if awaited:
            transaction.on_commit(partial(ask_saved_questions.enqueue, copilot_id))
    return awaited


def resume_questions() -> None:
    """Takes up the questions that nobody asks any more, unless they wait for a worker."""
    enqueue_stalled(ask_saved_questions, claim_stalled())
