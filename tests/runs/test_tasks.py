"""Tasks that outlive their request: kept, watched, and on their own."""

import asyncio

import pytest

from copilot_admin.errors import ConfigurationError
from copilot_admin.runs.tasks import spawn


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
