"""Replays done in the background: handed to the server's loop, done by a worker, or by a command."""

from functools import partial

from django.db import transaction
from django.db.models import QuerySet
from django_tasks import task

from copilot_admin.evaluation.question_asker import AT_ONCE, Asker
from copilot_admin.evaluation.question_runs import QuestionResult, result_of, trying, without_answer
from copilot_admin.evaluation.replay_decisions import ReplayWish
from copilot_admin.evaluation.replay_queue import (
    ClaimedReplay,
    begin,
    claim,
    claim_stalled,
    give_back,
    grant,
    keep,
    sign_of_life,
)
from copilot_admin.evaluation.replay_targets import target_of_replay
from copilot_admin.jobs.tasks import enqueue_stalled, run_coroutine
from copilot_admin.models import Replay, SavedQuestion
from copilot_admin.runs.tasks import CRASHED
from copilot_admin.storage.writer import READER, WRITER


class ReplayDesk:
    """The questions of a replay, which wait for one answer each."""

    def __init__(self, replay_id: int) -> None:
        self.replay_id = replay_id
        self.name = f"replay {replay_id}"

    def claim(self, failed: frozenset[int]) -> ClaimedReplay | None:
        """Lets those that failed wait again, and takes the next."""
        give_back(failed)
        return claim(self.replay_id, at_once=AT_ONCE)

    def give_back(self, answer_ids: frozenset[int]) -> None:
        """Lets questions wait again."""
        give_back(answer_ids)

    def sign_of_life(self, answer_ids: tuple[int, ...]) -> frozenset[int]:
        """Says that they are being asked; gives those that are still wanted."""
        return sign_of_life(self.replay_id, answer_ids)

    async def ask(self, job: ClaimedReplay) -> None:
        """Asks one question and keeps what comes of it."""
        target = await READER.run(partial(target_of_replay, job.replay))
        caller = await READER.run(partial(trying, job.replay.asked_by_id))
        await _keep(job, await result_of(job.question, target, caller))

    async def broke(self, job: ClaimedReplay) -> None:
        """Keeps of a question whose asking broke that it has no answer."""
        await _keep(job, without_answer(CRASHED))


@task
def ask_replay(replay_id: int) -> None:
    """Has the questions of a replay asked."""
    if Asker(ReplayDesk(replay_id)).ask_in_turn():
        ask_replay.enqueue(replay_id)


def replay_in_background(replay: Replay, questions: QuerySet[SavedQuestion]) -> Replay:
    """Stores a replay and has it done.

    Raises:
        ConfigurationError: There is nothing to ask, or too much.
    """
    with transaction.atomic():
        begin(replay, questions)
        transaction.on_commit(partial(ask_replay.enqueue, replay.pk))
    return replay


def replay_here(replay_id: int) -> None:
    """Asks all that waits, in this thread."""
    run_coroutine(Asker(ReplayDesk(replay_id)).ask_waiting())


def wish(replay_id: int, wanted: ReplayWish) -> bool:
    """Pauses a replay, lets it go on, or stops it; says whether it could be."""
    with transaction.atomic():
        is_granted = grant(replay_id, wanted)
        if is_granted and wanted is ReplayWish.RESUME:
            transaction.on_commit(partial(ask_replay.enqueue, replay_id))
    return is_granted


def resume_replays() -> None:
    """Takes up the replays that nobody goes on with, unless they wait for a worker."""
    enqueue_stalled(ask_replay, claim_stalled())


async def _keep(claimed: ClaimedReplay, result: QuestionResult) -> None:
    await WRITER.run(partial(keep, claimed, result))
