"""Tasks that outlive their request: kept, watched, and on their own."""

import asyncio
import gc

import pytest

from copilot_admin.errors import ConfigurationError
from copilot_admin.runs.tasks import spawn


def test_a_task_that_nobody_holds_is_kept_until_it_ends():
    ended: list[str] = []

    async def work() -> None:
        await asyncio.shield(asyncio.get_running_loop().create_future())

    async def scenario() -> None:
        spawn(work(), name="held by nobody").add_done_callback(lambda one: ended.append("ended"))
        await asyncio.sleep(0)
        gc.collect()
        assert ended == []
        (task,) = (one for one in asyncio.all_tasks() if one.get_name() == "held by nobody")
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(scenario())
    assert ended == ["ended"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ZeroDivisionError(), ["work ended with an error"]),
        (ConfigurationError("Set it."), []),
        (asyncio.CancelledError(), []),
        (None, []),
    ],
)
def test_an_error_that_nobody_awaits_is_told_unless_it_is_ours(error, told, caplog):
    async def work() -> None:
        if error is not None:
            raise error

    async def scenario() -> None:
        await asyncio.wait({spawn(work(), name="work")})

    asyncio.run(scenario())
    assert caplog.messages == told
