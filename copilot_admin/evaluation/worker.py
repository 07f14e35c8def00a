"""The background worker of evaluation runs.

A test case that can't run at the moment is returned to the queue and retried with backoff. After
the last attempt the periodic task resumes it with the other stalled runs.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
import logging
from math import inf
import time
from weakref import WeakKeyDictionary

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_tasks import task

from copilot_admin.copilots.callers import Caller
from copilot_admin.copilots.test_cases import as_row
from copilot_admin.errors import ConfigurationError, RunError, Unavailable
from copilot_admin.evaluation.assertions import CaseAnswer, judge_answer
from copilot_admin.evaluation.case_query import query_case
from copilot_admin.evaluation.queue import (
    MAX_CONCURRENT,
    claim_next,
    claim_stalled,
    release,
    save_runs,
    send_heartbeat,
    store_result,
)
from copilot_admin.evaluation.targets import make_caller, prepare_target
from copilot_admin.import_export.questions import parse_case
from copilot_admin.jobs.tasks import MAX_TASK_SECONDS, has_server_loop, is_queued
from copilot_admin.models import EvaluationResult, EvaluationRun, TestCase
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.runs.open_run import DRAINING
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import CRASHED, spawn
from copilot_admin.storage.errors import OUTAGES
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.transcripts.store.transcript_store import beat

MAX_CONCURRENT_IN_PROCESS = 12  # each test case may have 4 MB
HEARTBEAT_SECONDS = 2.0  # a cancelled run ends after that time
BACKOFF_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
RETRIED = (*OUTAGES, Unavailable)

logger = logging.getLogger(__name__)
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


@task
async def run_evaluations(copilot_id: int) -> None:
    """Run the waiting test cases of a copilot; a worker also takes other tasks in between."""
    max_seconds = inf if has_server_loop() else MAX_TASK_SECONDS
    if await EvaluationWorker(copilot_id).run_waiting(max_seconds=max_seconds):
        await run_evaluations.aenqueue(copilot_id)


def start_runs(runs: Sequence[EvaluationRun], cases: QuerySet[TestCase]) -> None:
    """Save runs of one copilot and start them in the background."""
    with transaction.atomic():
        save_runs(runs, cases)
        transaction.on_commit(partial(run_evaluations.enqueue, runs[0].copilot_id))


def run_here(copilot_id: int) -> None:
    asyncio.run(EvaluationWorker(copilot_id).run_waiting())


def resume_evaluations() -> None:
    """Resume runs that have lost their worker, unless a task for them is queued."""
    for copilot_id in claim_stalled():
        if not is_queued(run_evaluations, copilot_id):
            run_evaluations.enqueue(copilot_id)


class EvaluationWorker:
    def __init__(self, copilot_id: int) -> None:
        self.copilot_id = copilot_id
        self.name = f"evaluations of copilot {copilot_id}"
        self._running: dict[asyncio.Task[None], EvaluationResult] = {}
        self._ends_at = inf

    async def run_waiting(self, *, max_seconds: float = inf) -> bool:
        """Run until no test case waits; return True if the time was up before."""
        self._ends_at = time.monotonic() + max_seconds
        heartbeat = spawn(self._send_heartbeats(), name=f"heartbeat of {self.name}")
        try:
            async with asyncio.TaskGroup() as group:
                lanes = [group.create_task(self._run_lane()) for _ in range(MAX_CONCURRENT)]
        finally:
            heartbeat.cancel()
        return any(lane.result() for lane in lanes)

    async def _run_lane(self) -> bool:
        loop = asyncio.get_running_loop()
        slots = _slots.setdefault(loop, asyncio.Semaphore(MAX_CONCURRENT_IN_PROCESS))
        pauses = iter(BACKOFF_SECONDS)
        while time.monotonic() < self._ends_at:
            try:
                async with slots:
                    has_more = await self._run_next()
            except RETRIED as error:
                pause = next(pauses, None)
                if pause is None or DRAINING.is_set():
                    logger.warning("An evaluation is paused: %s.", type(error).__name__)
                    return False
                await asyncio.sleep(pause)
                continue
            if not has_more:
                return False
            pauses = iter(BACKOFF_SECONDS)
        return True

    async def _run_next(self) -> bool:
        """Run the next test case; return False if no test case waits."""
        claim = await WRITER.run(partial(claim_next, self.copilot_id))
        if claim is None:
            return False
        running = spawn(_run_case(claim), name=f"{self.name}, result {claim.pk}")
        self._running[running] = claim
        try:
            await asyncio.wait({running})
        finally:
            running.cancel()
            del self._running[running]
        error = None if running.cancelled() else running.exception()
        if isinstance(error, RETRIED):
            with suppress(*RETRIED):  # then it is claimed again without a heartbeat
                await WRITER.run(partial(release, claim.pk))
            raise error
        if error is not None:  # logged by its task
            await WRITER.run(partial(store_result, claim, CaseAnswer(error=CRASHED)))
        return True

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            running = dict(self._running)
            ids = tuple(claim.pk for claim in running.values())
            try:
                await WRITER.run(partial(beat, tuple(run.id for run in tuple(RUNNING))))
                wanted = await WRITER.run(partial(send_heartbeat, self.copilot_id, ids))
            except RETRIED as error:
                logger.warning("An evaluation missed a heartbeat: %s.", type(error).__name__)
                continue
            for one, claim in running.items():
                if claim.pk not in wanted:
                    one.cancel()


async def _run_case(claim: EvaluationResult) -> None:
    answer = await _evaluate(claim.run, claim.case)
    await WRITER.run(partial(store_result, claim, answer))


async def _evaluate(run: EvaluationRun, case: TestCase) -> CaseAnswer:
    try:
        entry = await asyncio.to_thread(lambda: parse_case(as_row(case)))  # of up to 4 MB
    except ConfigurationError as error:
        return CaseAnswer(error=_("The test case is not valid: %s") % error.public)
    try:
        live, judge = await READER.run(partial(prepare_target, run))
    except (ConfigurationError, RunError) as error:
        return CaseAnswer(error=error.public)
    user = run.started_by
    caller = make_caller(user) if user else Caller(principal=f"{PLAYGROUND}command")
    answer = await query_case(live, caller, entry, origin=case.origin)
    return await judge_answer(answer, entry.expect, judge)
