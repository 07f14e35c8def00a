"""Who reads from the replica, and when the primary is asked instead."""

from typing import Any

from django import db
from django.conf import settings
from django.contrib.auth.models import User
import pytest

from copilot_admin.models import Conversation
from copilot_admin.storage import replica
from copilot_admin.storage.replica import (
    ALIAS,
    Replica,
    ReplicaRouter,
    is_read_from_replica,
    reading_replica,
)

ROUTER = ReplicaRouter()


def test_only_our_models_are_read_from_it_and_only_within_its_block():
    assert (is_read_from_replica(), ROUTER.db_for_read(Conversation)) == (False, "default")
    with reading_replica():
        read = [ROUTER.db_for_read(model) for model in (Conversation, User)]
        assert (is_read_from_replica(), read) == (True, [ALIAS, "default"])
    assert ROUTER.db_for_read(Conversation) == "default"


def test_nothing_is_written_to_it():
    with reading_replica():
        found = Conversation()
        found._state.db = ALIAS
        assert ROUTER.db_for_write(Conversation, instance=found) == "default"
        assert ROUTER.allow_relation(found, User())
    assert [ROUTER.allow_migrate(name, "copilot_admin") for name in ("default", ALIAS)] == [
        True,
        False,
    ]


class Machine:
    """A replica as a test wants it; it counts how often somebody looks."""

    def __init__(self, delay: float | Exception) -> None:
        self.delay, self.looks, self.closed = delay, 0, 0

    def cursor(self) -> "Machine":
        self.looks += 1
        return self

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, statement: str) -> None:
        if isinstance(self.delay, Exception):
            raise self.delay

    def fetchone(self) -> tuple[Any]:
        return (self.delay,)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(replica, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def machine(monkeypatch) -> Machine:
    monkeypatch.setitem(settings.DATABASES, ALIAS, {})
    machine = Machine(0)
    monkeypatch.setattr(replica, "connections", {ALIAS: machine})
    return machine


def test_where_there_is_none_the_primary_is_asked():
    assert Replica().may_be_asked() is False


def test_its_delay_is_measured_every_two_seconds(machine, clock):
    one = Replica()
    answers = []
    for clock[0] in (1000, 1001.9, 1002, 1003):
        answers.append((one.may_be_asked(), machine.looks))
    assert answers == [(True, 1), (True, 1), (True, 2), (True, 2)]


@pytest.mark.parametrize(("delay", "may"), [(10.0, True), (10.1, False)])
def test_one_that_is_far_behind_is_not_asked(machine, clock, delay, may):
    machine.delay = delay
    one = Replica()
    assert [one.may_be_asked(), one.may_be_asked(), machine.looks] == [may, may, 1]
    machine.delay = 0
    clock[0] += 2
    assert one.may_be_asked() is True


def test_one_that_is_away_is_left_alone_for_ten_seconds(machine, clock, caplog):
    machine.delay = db.OperationalError("gone")
    one = Replica()
    assert [one.may_be_asked(), one.may_be_asked()] == [False, False]
    assert (machine.looks, machine.closed) == (1, 1)
    assert caplog.messages == [
        "The read replica is left alone: it does not answer. The primary is asked instead."
    ]
    machine.delay = 0
    clock[0] += 9.9
    assert one.may_be_asked() is False
    clock[0] += 0.1
    assert one.may_be_asked() is True
