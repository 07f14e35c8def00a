"""Asks what waits until nothing does: the saved questions of a copilot, or those of a replay.

Some at a time, each as soon as it may.

What fails for a moment is given back, and tried again after a pause that holds nobody else; what
fails for longer is left to whoever looks for questions that nobody asks.
"""

import asyncio
from contextlib import suppress
from functools import partial
import logging
import time
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from copilot_admin.errors import Unavailable
from copilot_admin.evaluation.question_queue import Claimed, claim, give_back, keep, sign_of_life
from copilot_admin.evaluation.question_runs import (
    QuestionResult,
    result_of,
    target_of,
    trying,
    without_answer,
)
from copilot_admin.jobs.tasks import (
    MAX_TASK_SECONDS,
    has_server_loop,
    run_coroutine,
    run_on_server_loop,
)
from copilot_admin.runs.open_run import is_draining
from copilot_admin.runs.run import RUNNING
from copilot_admin.runs.tasks import CRASHED, spawn
from copilot_admin.storage.errors import OUTAGES
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.transcripts.store.checkpoints import beat

AT_ONCE = 3  # of a copilot; builders wait for dozens, and the provider serves users besides
PLACES = 12  # of a process: each question may bring 4 MB
LOOK_SECONDS = 2.0  # between two signs of life; whoever stops the questions waits as long
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # before another try; then it is left to the housekeeping
HICCUPS = (*OUTAGES, Unavailable)  # what may be over in a moment

logger = logging.getLogger(__name__)
_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class Waiting(Protocol):
    """A question that somebody is to ask, and nobody else."""

    @property
    def answer_id(self) -> int:
        """The id of the row that its answer comes to."""
        ...


Job = TypeVar("Job", bound=Waiting)


class Desk(Protocol[Job]):
    """Where questions wait, and where their answers go. All but `ask` and `broke` write rows."""

    @property
    def name(self) -> str:
        """What is asked, for lines of the log."""
        ...

    def claim(self, failed: frozenset[int]) -> Job | None:
        """Lets those that failed wait again, and takes the next; None: nothing is to be asked now."""
        ...

    def give_back(self, answer_ids: frozenset[int]) -> None:
        """Lets answers wait again that could not be got now."""
        ...

    def sign_of_life(self, answer_ids: tuple[int, ...]) -> frozenset[int]:
        """Says that somebody asks for these; gives those that are still wanted."""
        ...

    async def ask(self, job: Job) -> None:
        """Asks one question and keeps what comes of it."""
        ...

    async def broke(self, job: Job) -> None:
        """Keeps that a mistake of ours left a question without an answer."""
        ...


class Asker(Generic[Job]):
    """Asks what waits at one desk."""

    def __init__(self, desk: Desk[Job]) -> None:
        self.desk = desk
        self._asking: dict[asyncio.Task[None], Job] = {}
        self._failed: set[int] = set()  # answers that are to wait again
        self._until = float("inf")

    def ask_in_turn(self) -> bool:
        """Asks in the loop of a server, where a slow answer keeps nobody waiting, or here in a worker.

        Returns:
            Whether others have their turn now, and something waits.
        """
        if has_server_loop():
            run_on_server_loop(lambda: spawn(self.ask_waiting(), name=self.desk.name))
            return False
        return run_coroutine(self.ask_waiting(seconds=MAX_TASK_SECONDS))

    async def ask_waiting(self, *, seconds: float = float("inf")) -> bool:
        """Asks until nothing waits.

        Args:
            seconds: After them nothing more is begun.

        Returns:
            Whether time was up before that.
        """
        self._until = time.monotonic() + seconds
        looking = spawn(self._look_after(), name="signs of life of saved questions")
        try:
            async with asyncio.TaskGroup() as group:
                ways = [group.create_task(self._ask_on()) for _ in range(AT_ONCE)]
        finally:
            looking.cancel()
        return any(way.result() for way in ways)

    async def _ask_on(self) -> bool:
        pauses = iter(PAUSES)
        while time.monotonic() < self._until:
            try:
                async with _place():
                    is_more = await self._ask_next()
            except HICCUPS as error:
                pause = next(pauses, None)
                if pause is None or is_draining():
                    await self._leave_it(error)
                    return False
                await asyncio.sleep(pause)
                continue
            if not is_more:
                return False
            pauses = iter(PAUSES)
        return True

    async def _ask_next(self) -> bool:
        """Asks the next question; False where there is none.

        Raises:
            Unavailable: It could not be asked now; it waits again before the next is claimed.
            OperationalError, InterfaceError: As above.
        """
        claimed = await self._claim()
        if claimed is None:
            return False
        asking = spawn(self.desk.ask(claimed), name=f"{self.desk.name}, {claimed.answer_id}")
        self._asking[asking] = claimed
        try:
            await asyncio.wait({asking})
        finally:
            asking.cancel()
            del self._asking[asking]
        await self._settle(claimed, asking)
        return True

    async def _claim(self) -> Job | None:
        failed, self._failed = (
            frozenset(self._failed),
            set(),
        )  # so that nobody gives them back twice
        try:
            return await WRITER.run(partial(self.desk.claim, failed))
        except HICCUPS:
            self._failed |= failed
            raise

    async def _settle(self, claimed: Job, asked: asyncio.Task[None]) -> None:
        error = None if asked.cancelled() else asked.exception()
        if isinstance(error, HICCUPS):
            self._failed.add(claimed.answer_id)
            raise error
        if error is not None:  # its task has logged it
            await self.desk.broke(claimed)

    async def _leave_it(self, error: Exception) -> None:
        logger.warning(
            "Saved questions are paused and will be asked again: %s", type(error).__name__
        )
        failed, self._failed = frozenset(self._failed), set()
        with suppress(*HICCUPS):
            await WRITER.run(partial(self.desk.give_back, failed))

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except HICCUPS as error:
                logger.warning("no sign of life of saved questions: %s", type(error).__name__)

    async def _look(self) -> None:
        asking = dict(self._asking)
        await WRITER.run(partial(beat, tuple(run.id for run in tuple(RUNNING))))
        ids = tuple(claimed.answer_id for claimed in asking.values())
        wanted = await WRITER.run(partial(self.desk.sign_of_life, ids))
        for one, claimed in asking.items():
            if claimed.answer_id not in wanted:
                one.cancel()


def _place() -> asyncio.Semaphore:
    loop = asyncio.get_running_loop()
    return _places.setdefault(loop, asyncio.Semaphore(PLACES))


class QuestionDesk:
    """The saved questions of a copilot, which wait for answers of the draft or of what is live."""

    def __init__(self, copilot_id: int) -> None:
        self.copilot_id = copilot_id
        self.name = f"saved questions of copilot {copilot_id}"

    def claim(self, failed: frozenset[int]) -> Claimed | None:
        """Lets those that failed wait again, and takes the next."""
        give_back(failed)
        return claim(self.copilot_id, at_once=AT_ONCE)

    def give_back(self, answer_ids: frozenset[int]) -> None:
        """Gives answers back to the queue, so that they wait again."""
        give_back(answer_ids)

    def sign_of_life(self, answer_ids: tuple[int, ...]) -> frozenset[int]:
        """Says that they are being asked; gives those that are still wanted."""
        return sign_of_life(self.copilot_id, answer_ids)

    async def ask(self, job: Claimed) -> None:
        """Asks one question and keeps what comes of it."""
        question = job.question
        target = await READER.run(partial(target_of, question.copilot, job.side))
        caller = await READER.run(partial(trying, job.user_id))
        await _keep(job, await result_of(question, target, caller))

    async def broke(self, job: Claimed) -> None:
        """Keeps that there is no answer."""
        await _keep(job, without_answer(CRASHED))


async def _keep(claimed: Claimed, result: QuestionResult) -> None:
    await WRITER.run(partial(keep, claimed, result.asked, result.verdict, result.source))
