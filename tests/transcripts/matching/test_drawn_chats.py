"""Drawn chats with the same first question, whose answers come back laid out anew; no trace id."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
import re
import unicodedata

import pytest

from protocol.messages import Message
from tests.transcripts.store.journaling import Client, ai, human

pytestmark = pytest.mark.django_db
QUESTION = "What moved the market today?"
WORDS = [
    "oil",
    "gold",
    "wheat",
    "copper",
    "lenders",
    "chips",
    "bonds",
    "rates",
    "shares",
    "exports",
    "harvest",
    "holiday",
    "record",
    "meeting",
    "central",
    "bank",
    "kept",
    "lost",
    "rose",
    "fell",
    "sharply",
    "quietly",
    "before",
    "after",
    "opening",
    "afternoon",
    "spring",
    "Vienna",
    "Tokyo",
    "London",
    "traders",
    "volumes",
    "currency",
    "announced",
    "expected",
    "weaker",
    "stronger",
    "against",
    "basket",
]
Rendering = Callable[[Random, str], str]
RENDERINGS: tuple[Rendering, ...] = (
    lambda random, text: text,
    lambda random, text: re.sub(r"[*#>`]|\[\d+\]|\]\(https[^)]*\)|\[", "", text),
    lambda random, text: text.replace(" ", "  ").replace("\n\n", "\n \n"),
    lambda random, text: text[: int(len(text) * random.uniform(0.6, 0.95))] + "\u2026",
    lambda random, text: re.sub(r"\[\d+\]", "", text) + "\n\nSources: 1, 2",
    lambda random, text: unicodedata.normalize("NFKC", text).replace("-", "\u2022"),
    lambda random, text: f"<p>{text}</p>",
)


@dataclass
class Chat:
    """One chat as its client sees it, and the conversations in which its questions stand."""

    name: str
    messages: list[Message] = field(default_factory=list)
    conversations: set[int] = field(default_factory=set)


def drawn_answer(random: Random) -> str:
    """Some sentences with emphasis, a link, a citation and a list."""
    words = random.choices(WORDS, k=random.randint(15, 40))
    words[3] = f"**{words[3]}**"
    words[7] = f"[{words[7]}](https://a.test/{random.randint(1, 9)})"
    words[11] += f" ({random.randint(2, 9999)})[{random.randint(1, 3)}]"
    return " ".join(words).capitalize() + f".\n\n- {random.choice(WORDS)}\n- {random.choice(WORDS)}"


def talk(random: Random, answers: Callable[[Chat], str]) -> list[Chat]:
    """Four to eight chats in any order, each of two to four turns."""
    client = Client()
    chats = [Chat(f"chat {number}") for number in range(random.randint(4, 8))]
    turns = [chat for chat in chats for _ in range(random.randint(2, 4))]
    random.shuffle(turns)
    for number, chat in enumerate(turns):
        question = f"And {chat.name}, {number}?" if chat.messages else QUESTION
        chat.messages.append(human(question))
        asked = client.ask(*chat.messages)
        chat.conversations.add(asked.conversation.pk)
        told = answers(chat)
        asked.answer(told)
        chat.messages.append(ai(random.choice(RENDERINGS)(random, told)))
    return chats


def mixed(chats: list[Chat]) -> dict[int, list[str]]:
    """The conversations in which several chats stand."""
    found: dict[int, list[str]] = defaultdict(list)
    for chat in chats:
        for conversation in chat.conversations:
            found[conversation].append(chat.name)
    return {conversation: names for conversation, names in found.items() if len(names) > 1}


SEEDS = [*range(2), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_chats_with_answers_of_their_own_are_neither_mixed_nor_lost(seed):
    random = Random(seed)
    chats = talk(random, lambda chat: drawn_answer(random))
    assert mixed(chats) == {}
    assert {chat.name: len(chat.conversations) for chat in chats} == {
        chat.name: 1 for chat in chats
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_chats_whose_answers_are_alike_may_part_and_are_not_mixed(seed):
    random = Random(seed)
    same = drawn_answer(random)
    numbers = iter(random.sample(range(10, 9999), k=100))
    chats = talk(random, lambda chat: f"{same} It stood at {next(numbers)}.")
    assert mixed(chats) == {}
