"""What public reports say of model servers, read by the provider over HTTP."""

import asyncio
import re

import pytest

from copilot_admin.agent.values.model_call import ALIVE, Finish, Usage, UsageSource
from copilot_admin.errors import RunError
from tests.agent.llm.chunks import CALL, joined, parsed
from tests.agent.llm.conformance import answers, reasoning, tool_calls
from tests.agent.llm.conformance.rows import KEPT, PLAIN
from tests.agent.providers.upstream import serving

ROWS = (*answers.ROWS, *reasoning.ROWS, *tool_calls.ROWS)
ANSWERS = [row for row in ROWS if not row.error]


def asked(row):
    async def handler(request, reply):
        await reply.start(type=row.type)
        await reply.send(row.body)
        await reply.end()

    async def run():
        async with serving(handler) as server:
            provider = server.provider()
            if row.options.get("thinks_first"):
                provider._thinks_first[f"{server.url}/v1", CALL.model] = True
            return [delta async for delta in provider.stream(CALL) if delta is not ALIVE]

    return joined(asyncio.run(run()))


def check(deltas, row):
    *found, usage, finish = deltas
    assert found == row.expected
    assert finish == Finish(row.finish)
    if row.usage is None:
        assert usage.source is UsageSource.ESTIMATED
    else:
        assert usage == Usage(**row.usage)


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row.name)
def test_answer_is_read(row):
    check(asked(row), row)


@pytest.mark.parametrize("row", [row for row in ROWS if row.error], ids=lambda row: row.name)
def test_failure_is_explained(row):
    with pytest.raises(RunError) as caught:
        asked(row)
    assert re.search(row.error, caught.value.public)
    assert row.detail in caught.value.detail


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row.name)
def test_bytes_may_be_cut_anywhere(row, size):
    if row.is_cut_free:
        check(parsed(row.body, size=size, **row.options), row)


def test_the_table_is_long_and_names_its_sources():
    assert len([row for row in ROWS if row.source not in (KEPT, PLAIN)]) >= 120
    assert len({row.name for row in ROWS}) == len(ROWS)
