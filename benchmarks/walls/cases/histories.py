"""Histories: thousands of messages of any kind; more than 2,000 are refused."""

from random import Random
from typing import Any

from benchmarks.bodies import CALL_THREE, SOURCE
from benchmarks.walls.arena import Arena, human, is_down, spread

AT_ONCE = 3
MOST_MESSAGES = 2000  # COPILOT_MAX_MESSAGES
LARGEST = 20_000


async def send(arena: Arena) -> None:
    """Chats of drawn lengths, half of them near or beyond the limit."""

    async def case(random: Random) -> None:
        number = random.choice(
            (spread(random, 2, LARGEST), MOST_MESSAGES, MOST_MESSAGES + 1, LARGEST)
        )
        messages = [*_messages(random, number - 1), human("And now?")]
        reply = await arena.ask({"messages": messages}, slug=random.choice(("bench", "wild")))
        wanted = 422 if number > MOST_MESSAGES else 200
        if reply.status not in (wanted, 413) and not is_down(reply):
            arena.fault(f"{reply.status} and not {wanted} for {number} messages")

    await arena.each(case, at_once=AT_ONCE)


def _messages(random: Random, number: int) -> list[dict[str, Any]]:
    words = "word " * random.randint(1, 80)
    with_results = random.random() < 0.3
    messages: list[dict[str, Any]] = []
    while len(messages) < number:
        messages.append(human(f"{len(messages)} {words}"))
        if with_results:
            messages += _fetched(len(messages))
        messages.append({"role": "ai", "content": f"An answer {random.getrandbits(20)} {words}"})
    return messages[:number]


def _fetched(number: int) -> list[dict[str, Any]]:
    result = {
        "role": "tool",
        "function": "get_widget_data",
        "input_arguments": {"data_sources": [SOURCE]},
        "data": [{"items": [{"content": f'[{{"close": {number}}}]'}]}],
        "extra_state": {},
    }
    return [{"role": "ai", "content": CALL_THREE}, result]
