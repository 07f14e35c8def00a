"""Asks the saved questions of a copilot until none waits: some at a time, each as soon as it may.

What fails for a moment is given back, and tried again after a pause that holds nobody else; what
fails for longer is left to whoever looks for questions that nobody asks.
"""

import asyncio
from contextlib import suppress
from functools import partial
import logging
import time
from weakref import WeakKeyDictionary

from copilot_admin.answering.open_run import is_draining
from copilot_admin.answering.run import CRASHED, RUNNING
from copilot_admin.answering.tasks import spawn
from copilot_admin.errors import Unavailable
from copilot_admin.journal import beat
from copilot_admin.storage.database_thread import OUTAGES
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.studio.question_queue import Claimed, claim, give_back, keep, sign_of_life
from copilot_admin.studio.question_runs import Result, result_of, target_of, trying, without_answer

AT_ONCE = 3  # of a copilot; builders wait for dozens, and the provider serves users besides
PLACES = 12  # of a process: each question may bring 4 MB
LOOK_SECONDS = 2.0  # between two signs of life; whoever stops the questions waits as long
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # before another try; then it is left to the housekeeping
HICCUPS = (*OUTAGES, Unavailable)  # what may be over in a moment

logger = logging.getLogger(__name__)
_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class QuestionAsker:
    """Asks what one copilot waits for."""

    def __init__(self, copilot_id: int) -> None:
        self.copilot_id = copilot_id
        self._asking: dict[asyncio.Task[None], Claimed] = {}
        self._failed: set[int] = set()  # answers that are to wait again
        self._until = float("inf")

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
        """Asks one question after the other; True when time is up."""
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
        asking = spawn(_ask(claimed), name=f"saved question {claimed.question.pk}")
        self._asking[asking] = claimed
        try:
            await asyncio.wait({asking})
        finally:
            asking.cancel()
            del self._asking[asking]
        await self._settle(claimed, asking)
        return True

    async def _claim(self) -> Claimed | None:
        """Takes the next answer; those that failed wait again from then on."""
        failed, self._failed = (
            frozenset(self._failed),
            set(),
        )  # so that nobody gives them back twice
        try:
            return await WRITER.run(partial(_give_back_and_claim, self.copilot_id, failed))
        except HICCUPS:
            self._failed |= failed
            raise

    async def _settle(self, claimed: Claimed, asked: asyncio.Task[None]) -> None:
        """Says of a question that broke that it did; one that met with a hiccup is asked again."""
        error = None if asked.cancelled() else asked.exception()
        if isinstance(error, HICCUPS):
            self._failed.add(claimed.answer_id)
            raise error
        if error is not None:  # its task has logged it
            await _keep(claimed, without_answer(CRASHED))

    async def _leave_it(self, error: Exception) -> None:
        """Lets others ask what could not be asked; what cannot be given back, they find as well."""
        logger.warning("saved questions wait for now: %s", type(error).__name__)
        failed, self._failed = frozenset(self._failed), set()
        with suppress(*HICCUPS):
            await WRITER.run(partial(give_back, failed))

    async def _look_after(self) -> None:
        """Says again and again that questions are asked, and ends those that nobody wants."""
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
        wanted = await WRITER.run(partial(sign_of_life, self.copilot_id, ids))
        for one, claimed in asking.items():
            if claimed.answer_id not in wanted:
                one.cancel()


def _place() -> asyncio.Semaphore:
    """One of the places of this process; who waits longest is next."""
    loop = asyncio.get_running_loop()
    return _places.setdefault(loop, asyncio.Semaphore(PLACES))


def _give_back_and_claim(copilot_id: int, failed: frozenset[int]) -> Claimed | None:
    give_back(failed)
    return claim(copilot_id, at_once=AT_ONCE)


async def _ask(claimed: Claimed) -> None:
    """Asks one question and keeps what comes of it."""
    question = claimed.question
    target = await READER.run(partial(target_of, question.copilot, claimed.side))
    await _keep(claimed, await result_of(question, target, trying(claimed.user_id)))


async def _keep(claimed: Claimed, result: Result) -> None:
    await WRITER.run(partial(keep, claimed, result.asked, result.verdict, result.source))
