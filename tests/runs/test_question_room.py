"""What questions weigh in memory, and the room that they share."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
import json

import pytest

from copilot_admin.agent.processes.places import Busy
from copilot_admin.errors import BodyTooLarge, Unavailable
from copilot_admin.runs import question_room
from copilot_admin.runs.question_room import (
    BYTES_PER_TOKEN,
    QuestionRoom,
    QuestionShare,
    Weight,
    room_for,
    room_to_read,
    size_of,
    text_of,
    weight_of,
)
from protocol.messages import HumanMessage
from protocol.pieces import PIECE
from protocol.requests import read
from tests.polling import HANGS_SECONDS

LARGE = 2 * PIECE  # what a regular expression says of megabytes, it says of two pieces
SIZE = 2 * LARGE


@pytest.fixture(autouse=True)
def _large_is_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_room, "LARGE", LARGE)


class Owner:
    """Somebody."""


@pytest.mark.parametrize(
    ("sign", "width"),
    [
        ("x", 1),
        ("é", 1),
        ("ÿ", 1),
        ("Ā", 2),
        ("€", 2),
        ("\uffff", 2),
        ("\U00010000", 4),
        ("😀", 4),
        (r"\u00ff", 1),
        (r"\u20ac", 2),
        (r"\ud83d\ude00", 4),
        (r"\uD83D\uDE00", 4),
    ],
)
def test_the_widest_character_tells_what_a_text_takes(sign, width):
    text = f'"{sign * 9}{"x" * LARGE}"'
    body = text.encode()
    size = width * len(text)
    assert weight_of(body) == Weight(len(body) + 3 * size, len(body) + size)
    assert weight_of(body).is_large


@pytest.mark.parametrize(("sign", "width"), [(r"\u00ff", 1), (r"\u20ac", 2), (r"\ud83d\ude00", 4)])
@pytest.mark.parametrize("before", range(1, 8))
def test_a_sign_is_seen_where_one_piece_ends_and_the_next_begins(sign, width, before):
    body = ('"' + "x" * (PIECE - before) + sign + "x" * LARGE + '"').encode()
    assert weight_of(body) == Weight(len(body) * (1 + 3 * width), len(body) * (1 + width))


def test_what_takes_more_than_a_bound_waits_for_room():
    assert weight_of(b"{}") == Weight(0, 0)
    assert not Weight(LARGE, LARGE).is_large
    assert Weight(LARGE + 1, 0).is_large


@pytest.mark.parametrize("values", [[[]], [1], [{}]], ids=["lists", "numbers", "objects"])
def test_values_weigh_more_than_their_bytes(values):
    body = json.dumps(values * 50_000, separators=(",", ":")).encode()
    assert weight_of(body).staying > 50_000 * BYTES_PER_TOKEN


def test_json_within_a_text_is_text():
    rows = json.dumps([{"a": 1}] * 40_000)
    body = json.dumps(rows).encode()
    assert weight_of(body) == Weight(4 * len(body), 2 * len(body))


def test_only_wide_texts_take_more_than_their_characters():
    long = "x" * SIZE
    messages = [{"role": "human", "content": "😀"}, {"role": "ai", "content": long}]
    read_query = read(json.dumps({"messages": messages, "workspace_state": {"a": [long]}}).encode())
    assert 2 * SIZE < text_of(read_query) < 2 * SIZE + 10_000
    wide = replace(read_query, messages=(HumanMessage(f"{long}😀"),))
    assert text_of(wide) > 5 * SIZE


@pytest.mark.parametrize("body", [b"", b"[" * 64 * 1024, b'{"messages": []}', b"{" * 2000])
def test_what_is_short_is_never_large(body):
    assert not weight_of(body).is_large


def test_who_does_not_fit_waits_until_somebody_gives_back_enough():
    async def scenario() -> None:
        room = QuestionRoom(10, seconds=HANGS_SECONDS)
        async with room.share(7) as first:
            waiting = asyncio.ensure_future(held(room, 6))
            await asyncio.sleep(0)
            async with room.share(3):  # who fits need not wait behind it
                pass
            first.shrink(5)
            await asyncio.sleep(0)
            assert not waiting.done()
            first.shrink(4)
            assert (await waiting).size == 6
            assert room.taken == 10

    asyncio.run(scenario())


def test_who_waits_is_overtaken_by_no_more_than_the_room_once_over():
    async def scenario() -> None:
        room = QuestionRoom(10, seconds=HANGS_SECONDS)
        async with room.share(4):
            large = asyncio.ensure_future(held(room, 9))
            await asyncio.sleep(0)
            for _ in range(3):
                async with room.share(3):  # who fits need not wait behind it, nine in all
                    pass
            small = asyncio.ensure_future(held(room, 3))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not small.done()
            async with room.share(1):  # that was the tenth
                pass
            assert (large.done(), small.done()) == (False, False)
        assert (await large).size == 9
        assert not small.done()
        (await large).shrink(0)
        assert (await small).size == 3

    asyncio.run(scenario())


def test_who_gives_up_lets_those_behind_him_go_on():
    async def scenario() -> None:
        room = QuestionRoom(10, seconds=HANGS_SECONDS)
        async with room.share(4):
            large = asyncio.ensure_future(held(room, 9))
            await asyncio.sleep(0)
            for _ in range(3):
                async with room.share(3):
                    pass
            small = asyncio.ensure_future(held(room, 3))
            await asyncio.sleep(0)
            assert not small.done()
            large.cancel()
            assert (await small).size == 3

    asyncio.run(scenario())


async def held(room: QuestionRoom, size: int) -> QuestionShare:
    async with room.share(size) as share:
        share.is_kept = True
        return share


def test_one_alone_may_have_more_than_there_is():
    async def scenario() -> None:
        room = QuestionRoom(10, seconds=0)
        async with room.share(20):
            with pytest.raises(Busy):
                await held(room, 1)
        async with room.share(9):
            with pytest.raises(Busy):
                await held(room, 20)
        assert room.taken == 0

    asyncio.run(scenario())


def test_what_is_kept_for_somebody_is_given_back_when_he_is_gone():
    async def scenario() -> None:
        room = QuestionRoom(10, seconds=0)
        owner = Owner()
        async with room.share(8) as share:
            share.keep_for(owner)
            share.shrink(3)
        assert room.taken == 3
        del owner
        assert room.taken == 0

    asyncio.run(scenario())


def test_a_share_is_given_back_when_reading_fails():
    async def scenario() -> None:
        room = QuestionRoom(10, seconds=0)
        with pytest.raises(ValueError, match="no question"):
            async with room.share(8):
                raise ValueError("no question")
        assert room.taken == 0

    asyncio.run(scenario())


def test_a_page_asks_with_room_from_the_reading_on(monkeypatch):
    room = QuestionRoom(10 * SIZE, seconds=0)
    monkeypatch.setattr(question_room, "QUESTION_ROOM", room)
    body = b'"' + b"x" * SIZE + b'"'
    weight = weight_of(body)

    async def scenario() -> None:
        owner = Owner()
        async with room_for(body) as share:
            assert room.taken == weight.reading
            share.keep_for(owner)
        assert room.taken == weight.staying
        del owner
        assert room.taken == 0
        async with room_for(b'"x"') as share:
            assert (room.taken, share.size) == (0, 0)

    asyncio.run(scenario())


def test_a_page_that_asks_too_much_is_refused_in_words(monkeypatch):
    body = b'"' + b"x" * SIZE + b'"'
    monkeypatch.setattr(question_room, "QUESTION_ROOM", QuestionRoom(10, seconds=0))

    async def asked() -> None:
        async with room_for(body):
            raise AssertionError

    async def scenario() -> None:
        async with question_room.QUESTION_ROOM.share(1):
            with pytest.raises(Unavailable, match="as many large questions as it can"):
                await asked()
        monkeypatch.setattr(question_room, "MOST_BYTES", SIZE)
        with pytest.raises(BodyTooLarge, match="takes too much memory"):
            await asked()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (b'{"messages": []}', 16),
        (b'{"data": [1, 1]}', 32),
        (b"1," * 5000, 160_000),
        (b"," * (256 * 1024 + 1), 256 * 1024 + 1),
    ],
)
def test_a_question_of_many_small_values_counts_like_a_longer_one(body: bytes, size: int):
    assert size_of(body) == size


def test_a_page_may_ask_what_takes_all_of_the_room(monkeypatch):
    room = QuestionRoom(SIZE, seconds=0)
    monkeypatch.setattr(question_room, "QUESTION_ROOM", room)
    monkeypatch.setattr(question_room, "MOST_BYTES", SIZE)
    monkeypatch.setattr(question_room, "LARGE", 0)

    async def asked(reading: int) -> int:
        weight = Weight(reading=reading, staying=reading)
        monkeypatch.setattr(question_room, "weight_of", lambda body: weight)
        async with room_for(b"") as share:
            return share.size

    assert asyncio.run(asked(SIZE)) == SIZE
    with pytest.raises(BodyTooLarge):
        asyncio.run(asked(SIZE + 1))


def test_before_a_large_question_is_read_the_gaps_that_others_left_go_back(monkeypatch):
    room, seen = QuestionRoom(SIZE, seconds=HANGS_SECONDS), list[object]()
    monkeypatch.setattr(question_room, "QUESTION_ROOM", room)
    monkeypatch.setattr(question_room, "give_back_gaps", lambda: seen.append(room.taken))

    async def scenario() -> None:
        async with room.share(1):
            waiting = asyncio.ensure_future(anext(aiter(reading())))
            await asyncio.sleep(0)
            assert not seen  # what waits before is not gone yet
        await waiting

    async def reading() -> AsyncIterator[None]:
        async with room_to_read(Weight(SIZE, 0)):
            seen.append("read")
            yield

    asyncio.run(scenario())
    assert seen == [SIZE, "read"]
