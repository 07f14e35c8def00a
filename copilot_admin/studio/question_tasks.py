"""Saved questions asked in the background: some at a time, a sign of life between, then the next."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
import logging

from django import db
from django.db import transaction
from django_tasks import task

from copilot_admin.answering.run import CRASHED, RUNNING
from copilot_admin.answering.tasks import spawn
from copilot_admin.errors import Unavailable
from copilot_admin.journal import beat
from copilot_admin.models import SavedQuestion, Side
from copilot_admin.storage.writer import WRITER
from copilot_admin.studio.question_queue import (
    Claimed,
    claim,
    claim_stalled,
    give_back,
    keep,
    queue,
    sign_of_life,
)
from copilot_admin.studio.question_runs import (
    Result,
    Target,
    result_of,
    target_of,
    trying,
    without_answer,
)
from copilot_admin.upkeep.background import in_loop, pause
from copilot_admin.upkeep.tasks import waits_for_worker

AT_ONCE = 3  # questions: builders wait for dozens, and the provider serves users besides
LOOK_SECONDS = 2.0  # between two signs of life; whoever stops the questions waits as long

Asking = Mapping["asyncio.Task[None]", Claimed]
logger = logging.getLogger(__name__)


@task
def ask_saved_questions(copilot_id: int) -> None:
    """Asks the next questions that a copilot waits for; then others have their turn."""
    try:
        claimed = WRITER.submit(partial(claim, copilot_id, AT_ONCE)).result()
        if not claimed:
            return
        targets = {one.side: target_of(one.question.copilot, one.side) for one in claimed}
        is_done = in_loop(_ask_all(claimed, targets))
    except (db.Error, Unavailable) as error:
        logger.warning("saved questions wait for now: %s", type(error).__name__)
        return
    if is_done and pause(0):
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


async def _ask_all(claimed: Sequence[Claimed], targets: Mapping[Side, Target]) -> bool:
    """Asks some questions at once; False when they have to be asked again later."""
    tasks = {
        spawn(_ask(one, targets[one.side]), name=f"saved question {one.question.pk}"): one
        for one in claimed
    }
    try:
        pending = set(tasks)
        while pending:
            _done, pending = await asyncio.wait(pending, timeout=LOOK_SECONDS)
            await _look_after({one: tasks[one] for one in pending})
    finally:
        for one in tasks:
            one.cancel()
    return await _tidy_up(tasks)


async def _ask(claimed: Claimed, target: Target) -> None:
    result = await result_of(claimed.question, target, trying(claimed.user_id))
    await _keep(claimed, result)


async def _look_after(asking: Asking) -> None:
    """Says that questions are being asked, and ends those that nobody wants any more."""
    ids = tuple(claimed.answer_id for claimed in asking.values())
    runs = tuple(run.id for run in tuple(RUNNING))
    await WRITER.run(partial(beat, runs))
    wanted = await WRITER.run(partial(sign_of_life, ids))
    for one, claimed in asking.items():
        if claimed.answer_id not in wanted:
            one.cancel()


async def _tidy_up(asked: Asking) -> bool:
    """Gives back what could not be asked now, and says of what broke that it did."""
    errors = {
        claimed: error
        for one, claimed in asked.items()
        if not one.cancelled() and (error := one.exception()) is not None
    }
    later = [one.answer_id for one, error in errors.items() if isinstance(error, Unavailable)]
    await WRITER.run(partial(give_back, later))
    for claimed, error in errors.items():
        if not isinstance(error, Unavailable):  # its task has logged it
            await _keep(claimed, without_answer(CRASHED))
    return not later


async def _keep(claimed: Claimed, result: Result) -> None:
    await WRITER.run(partial(keep, claimed, result.asked, result.verdict, result.source))
