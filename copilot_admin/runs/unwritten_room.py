"""The memory that questions may take together which are not large, until the journal has them.

Behind a database that is locked or slow a thousand may wait, also of clients that were refused
meanwhile. What there is no room for waits with its client, for as long as that does. A burst has turns.
"""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext

from django.conf import settings

from copilot_admin.agent.processes.places import Busy
from copilot_admin.runs.question_room import MB, QuestionRoom, QuestionShare, Weight, size_of
from copilot_admin.storage.errors import DatabaseUnavailable
from copilot_admin.storage.writer import Deadline

MOST_BYTES = 64 * MB
NEVER_COUNTED = 8 * 1024  # bytes of a body: a thousand of them are no matter
TIMES = 4  # what a body takes with all that is made of it, where it was not weighed
UNWRITTEN_ROOM = QuestionRoom(MOST_BYTES, seconds=settings.DATABASE_WAIT_SECONDS)


def room_to_be_written(
    body: bytes, weight: Weight, deadline: Deadline
) -> AbstractAsyncContextManager[QuestionShare | None]:
    """Room for a question, of which nothing is counted any more once the block ends well.

    Args:
        body: Of the question.
        weight: The same, weighed.
        deadline: That of the request.

    Returns:
        Gives its share, or None where it is not counted. The block raises `Busy` where there was no
        room for too long.
    """
    return nullcontext() if len(body) <= NEVER_COUNTED else _counted(body, weight, deadline)


@asynccontextmanager
async def _counted(
    body: bytes, weight: Weight, deadline: Deadline
) -> AsyncGenerator[QuestionShare, None]:
    size = max(weight.reading, TIMES * len(body), size_of(body))
    async with AsyncExitStack() as stack:
        try:
            async with deadline.limit():
                share = await stack.enter_async_context(UNWRITTEN_ROOM.share(size))
        except DatabaseUnavailable:
            raise Busy from None
        yield share
        share.shrink(0)
