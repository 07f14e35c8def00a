"""What waits to be written has room, and what there is none for waits no longer than its client."""

import asyncio
from typing import Any

from django.test import override_settings
import pytest

from copilot_admin.agent.processes.places import Busy
from copilot_admin.runs import unwritten_room
from copilot_admin.runs.question_room import QuestionRoom, Weight, weight_of
from copilot_admin.runs.unwritten_room import NEVER_COUNTED, room_to_be_written
from copilot_admin.storage.writer import Deadline
from tests.polling import HANGS_SECONDS

SHORT = b"x" * NEVER_COUNTED
LONG = b"x" * (NEVER_COUNTED + 1)
WEIGHED = b'"' + b"x" * 70_000 + "\U0001f600".encode() + b'"'  # each character takes four bytes
COMMAS = b"1," * NEVER_COUNTED


class Owner:
    """Somebody for whom a share is kept."""


@pytest.fixture(autouse=True)
def room(monkeypatch) -> QuestionRoom:
    made = QuestionRoom(2**20, seconds=HANGS_SECONDS)
    monkeypatch.setattr(unwritten_room, "UNWRITTEN_ROOM", made)
    return made


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        (SHORT, 0),
        (LONG, 4 * len(LONG)),
        (WEIGHED, weight_of(WEIGHED).reading),
        (COMMAS, 32 * NEVER_COUNTED),
    ],
)
def test_a_question_takes_as_much_as_is_made_of_it_until_it_is_written(room, body, taken):
    async def scenario() -> None:
        owner = Owner()
        async with room_to_be_written(body, weight_of(body), Deadline()) as share:
            if share is not None:
                share.keep_for(owner)
            assert room.taken == taken
        assert room.taken == 0

    asyncio.run(scenario())


def test_one_that_was_refused_takes_it_until_it_is_gone(room):
    async def scenario() -> None:
        owner: Any = Owner()
        with pytest.raises(ValueError, match="refused"):
            async with room_to_be_written(LONG, Weight(0, 0), Deadline()) as share:
                assert share is not None
                share.keep_for(owner)
                raise ValueError("refused")
        assert room.taken == 4 * len(LONG)
        del owner
        assert room.taken == 0

    asyncio.run(scenario())


def test_who_finds_none_waits_for_no_longer_than_for_a_database(room):
    async def scenario() -> None:
        async with room.share(2**20):
            with override_settings(DATABASE_WAIT_SECONDS=0.0), pytest.raises(Busy):
                async with room_to_be_written(LONG, Weight(0, 0), Deadline()):
                    raise AssertionError
            async with room_to_be_written(SHORT, Weight(0, 0), Deadline()):
                assert room.taken == 2**20

    asyncio.run(scenario())
