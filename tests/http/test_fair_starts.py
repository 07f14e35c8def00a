"""Many requests in one moment: the event loop looks round between a few of them."""

import asyncio
from itertools import pairwise
from typing import Any

from copilot_admin.http.asgi_types import Message
from copilot_admin.http.fair_starts import AT_ONCE, FairStarts
from tests.http.asgi_client import scope

MANY = 10 * AT_ONCE


class Begun:
    """An application that notes what began."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def __call__(self, request: Any, receive: Any, send: Any) -> None:
        self.paths.append(request.get("path", ""))


async def nothing() -> Message:
    return {}


async def ignored(message: Message) -> None:
    """Nobody listens."""


def test_requests_of_one_moment_begin_a_few_in_a_round_in_their_order():
    app = Begun()

    async def scenario() -> list[int]:
        fair = FairStarts(app)
        tasks = [
            asyncio.ensure_future(fair(scope(f"/{number}"), nothing, ignored))
            for number in range(MANY)
        ]
        begun = [0]
        while len(app.paths) < MANY:
            await asyncio.sleep(0)
            begun.append(len(app.paths))
        await asyncio.gather(*tasks)
        return begun

    begun = asyncio.run(scenario())
    assert app.paths == [f"/{number}" for number in range(MANY)]
    assert max(after - before for before, after in pairwise(begun)) == AT_ONCE


def test_who_asks_for_health_goes_before_them():
    app = Begun()

    async def scenario() -> None:
        fair = FairStarts(app)
        tasks = [asyncio.ensure_future(fair(scope("/"), nothing, ignored)) for _ in range(MANY)]
        await asyncio.sleep(0)
        await fair(scope("/healthz"), nothing, ignored)
        assert app.paths.index("/healthz") <= 2 * AT_ONCE
        await asyncio.gather(*tasks)

    asyncio.run(scenario())


def test_one_that_was_given_up_while_it_waited_keeps_nobody_waiting():
    app = Begun()

    async def scenario() -> None:
        fair = FairStarts(app)
        tasks = [asyncio.ensure_future(fair(scope("/"), nothing, ignored)) for _ in range(MANY)]
        await asyncio.sleep(0)
        for task in tasks[AT_ONCE : 3 * AT_ONCE]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await fair({"type": "lifespan"}, nothing, ignored)

    asyncio.run(scenario())
    assert len(app.paths) == MANY - 2 * AT_ONCE + 1


def test_one_that_came_alone_takes_nobodys_place():
    app = Begun()

    async def scenario() -> None:
        fair = FairStarts(app)
        await fair(scope("/alone"), nothing, ignored)
        for _ in range(2):
            await asyncio.sleep(0)
        tasks = [asyncio.ensure_future(fair(scope("/"), nothing, ignored)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0)
        assert len(app.paths) == 1 + AT_ONCE
        await asyncio.gather(*tasks)

    asyncio.run(scenario())
