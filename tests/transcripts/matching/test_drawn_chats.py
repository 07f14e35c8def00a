"""Drawn chats that begin with the same question and take turns: none is mixed with another."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

import pytest

from protocol.models import Message
from tests.transcripts.store.journaling import Client, ai, human

pytestmark = pytest.mark.django_db
QUESTION = "What moved the market today?"
WORDS = ["oil", "gold", "wheat", "chips", "bonds", "rates", "shares", "rose", "fell", "sharply"]
Rendering = Callable[[Random, str], str]
EXACT: Rendering = lambda random, text: text.replace(" ", random.choice([" ", "  ", "\n"]))  # noqa: E731
ALTERED: Rendering = lambda random, text: text[: random.randint(1, len(text))] + "…"  # noqa: E731


@dataclass
class Chat:
    """A chat as its client sees it, and the conversations in which its questions stand."""

    client: Client
    messages: list[Message] = field(default_factory=list)
    conversations: set[int] = field(default_factory=set)


def talk(random: Random, render: Rendering, trace_ids: Mapping[int, str]) -> list[Chat]:
    """Let four to eight chats of two to four turns take turns."""
    first = Client(trace_id=trace_ids.get(0))
    chats = [Chat(first)]
    for number in range(1, random.randint(4, 8)):
        chats.append(Chat(first.another(trace_id=trace_ids.get(number))))
    turns = [number for number in range(len(chats)) for _ in range(random.randint(2, 4))]
    random.shuffle(turns)
    for turn, number in enumerate(turns):
        chat = chats[number]
        chat.messages.append(human(f"And {number}, {turn}?" if chat.messages else QUESTION))
        asked = chat.client.ask(*chat.messages)
        chat.conversations.add(asked.conversation.pk)
        answer = f"{turn}: {' '.join(random.choices(WORDS, k=random.randint(5, 30)))}"
        asked.answer(answer)
        chat.messages.append(ai(render(random, answer)))
    return chats


def mixed(chats: list[Chat]) -> dict[int, list[int]]:
    """Return the conversations in which several chats stand."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, chat in enumerate(chats):
        for conversation in chat.conversations:
            found[conversation].append(number)
    return {conversation: numbers for conversation, numbers in found.items() if len(numbers) > 1}


SEEDS = [*range(2), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 40))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("render", "has_trace_id", "max_conversations"),
    [
        pytest.param(EXACT, False, 1, id="exact"),
        pytest.param(ALTERED, True, 1, id="altered, with trace id"),
        pytest.param(
            ALTERED, False, 2, id="altered"
        ),  # the first question alone may be left behind
    ],
)
def test_chats_are_neither_mixed_nor_scattered(seed, render, has_trace_id, max_conversations):
    trace_ids = {number: f"chat-{number}" for number in range(8)} if has_trace_id else {}
    chats = talk(Random(seed), render, trace_ids)
    assert mixed(chats) == {}
    assert max(len(chat.conversations) for chat in chats) <= max_conversations
