"""Saved questions asked in the background: handed to the server's loop, or done by a worker."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from django.db import transaction
from django_tasks import task

from copilot_admin.answering.tasks import spawn
from copilot_admin.models import SavedQuestion, Side
from copilot_admin.studio.question_asker import Asker, QuestionDesk
from copilot_admin.studio.question_queue import Claimed, claim_stalled, queue
from copilot_admin.upkeep.background import beside, in_loop, is_server
from copilot_admin.upkeep.tasks import TURN_SECONDS, waits_for_worker


@task
def ask_saved_questions(copilot_id: int) -> None:
    """Has the questions asked that a copilot waits for.

    A server asks them in its loop, where a slow answer keeps nobody waiting. A worker asks until
    others have their turn.
    """
    asker = Asker(QuestionDesk(copilot_id))
    if is_server():
        beside(partial(_begin, asker))
    elif in_loop(asker.ask_waiting(seconds=TURN_SECONDS)):
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
    for copilot_id in claim_stalled():
        if not waits_for_worker(ask_saved_questions, copilot_id):
            ask_saved_questions.enqueue(copilot_id)


def _begin(asker: Asker[Claimed]) -> asyncio.Task[bool]:
    return spawn(asker.ask_waiting(), name=asker.desk.name)
