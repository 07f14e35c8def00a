"""Who waits for somebody else's server has nothing in hand that others want."""

from contextlib import ExitStack

from django.db import connection, transaction
import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.models import Copilot
from copilot_admin.storage.empty_handed import MOST_WAITING, TURN, empty_handed, wait_for


async def _answer(words: str) -> str:
    return f"{words}!"


def test_a_function_that_asks_others_is_called_as_any(db):
    assert wait_for(_answer)("ready") == "ready!"


@pytest.mark.django_db(transaction=True)
def test_the_connection_is_given_back_while_somebody_waits_and_comes_again(monkeypatch):
    closed: list[int] = []
    monkeypatch.setattr(connection, "close", lambda: closed.append(1))
    Copilot.objects.count()
    with empty_handed():
        assert closed == [1]
    with transaction.atomic(), empty_handed():
        assert closed == [1]
    assert Copilot.objects.count() == 0


def test_the_turn_of_the_page_is_given_back(db):
    given: list[int] = []
    token = TURN.set(lambda: given.append(1))
    with empty_handed():
        assert given == [1]
    TURN.reset(token)


def test_no_more_wait_than_there_are_places(db):
    with ExitStack() as waiting:
        for _ in range(MOST_WAITING):
            waiting.enter_context(empty_handed())
        with pytest.raises(Unavailable, match="Too many pages wait for other servers"):
            waiting.enter_context(empty_handed())
    with empty_handed():
        pass
