"""A server that says nothing is given up; one that is only slow is not."""

from collections.abc import Callable, Iterator
import re
from types import SimpleNamespace

import psycopg
import pytest

from copilot_admin import settings
from copilot_admin.config import bounded_connection
from copilot_admin.config.bounded_connection import (
    AGAIN_SECONDS,
    ANSWER_SECONDS,
    ANSWER_SECONDS_AGAIN,
    BoundedConnection,
)
from copilot_admin.config.databases import OPTIONS_OF_SERVERS, POOL
from copilot_admin.storage.errors import UNDEFINED_TABLE
from tests.polling import HANGS_SECONDS
from tests.services import DATABASE_URL

TOLD_WITHIN_SECONDS = 5.0  # whoever asks while PostgreSQL is away
SHORT = 0.05
LONG = 3.0  # what a statement takes that must not be waited for; then its session ends too


def test_what_is_slow_ends_before_what_is_dead_and_both_in_time():
    slow = int(re.findall(r"statement_timeout=(\d+)", OPTIONS_OF_SERVERS)[0]) / 1000
    assert slow < ANSWER_SECONDS
    # A statement in vain, and then, where it was one of a transaction, a new connection in vain.
    assert ANSWER_SECONDS + POOL["timeout"] + ANSWER_SECONDS_AGAIN < TOLD_WITHIN_SECONDS
    assert settings.DATABASE_WAIT_SECONDS < TOLD_WITHIN_SECONDS


@pytest.fixture
def connection() -> Iterator[BoundedConnection]:
    with BoundedConnection.connect(DATABASE_URL, autocommit=True) as connection:
        yield connection
    bounded_connection._waited.told_soon_until = 0.0


@pytest.mark.postgres
class TestBoundedConnection:
    def test_one_that_gets_no_answer_is_closed(self, connection):
        connection.answers_within = SHORT
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(%s)", [LONG])
        assert connection.closed
        with pytest.raises(psycopg.OperationalError, match="closed"):
            connection.execute("SELECT 1")

    def test_within_a_transaction_too(self, connection):
        with pytest.raises(psycopg.OperationalError), connection.transaction():
            connection.execute("SELECT 1")
            connection.answers_within = SHORT
            connection.execute("SELECT pg_sleep(%s)", [LONG])
        assert connection.closed

    def test_what_failed_is_not_committed_as_if_it_had_not(self, connection):
        connection.autocommit = False
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 1 / 0")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.commit()
        connection.rollback()
        assert connection.execute("SELECT 1").fetchone() == (1,)
        connection.commit()

    def test_who_waited_in_vain_waits_less_until_there_is_an_answer(self, connection, monkeypatch):
        clock = SimpleNamespace(monotonic=lambda: 1000.0)  # no time passes until it is asked again
        monkeypatch.setattr(bounded_connection, "time", clock)
        monkeypatch.setattr(bounded_connection, "ANSWER_SECONDS_AGAIN", HANGS_SECONDS)
        connection.answers_within = SHORT
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(%s)", [LONG])
        with BoundedConnection.connect(DATABASE_URL) as other:
            other.answers_within = 2 * HANGS_SECONDS
            assert other._most() == HANGS_SECONDS
            other.execute("SELECT 1")
            assert other._most() == other.answers_within
            other.answers_within = None
            assert other._most() is None

    def test_after_a_while_it_waits_in_full_again_though_every_wait_was_in_vain(
        self, connection, monkeypatch
    ):
        """Where answers take longer than the short wait, a server never came back."""
        now = 1000.0
        monkeypatch.setattr(bounded_connection, "time", SimpleNamespace(monotonic=lambda: now))
        for _ in range(3):
            with BoundedConnection.connect(DATABASE_URL, autocommit=True) as another:
                another.answers_within = SHORT
                with pytest.raises(psycopg.OperationalError):
                    another.execute("SELECT pg_sleep(%s)", [LONG])
            assert connection._most() == ANSWER_SECONDS_AGAIN
            now += AGAIN_SECONDS / 2.5
        assert connection._most() == BoundedConnection.answers_within

    def test_one_whose_statement_fails_goes_on(self, connection):
        connection.execute("SET statement_timeout = 10")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(%s)", [LONG])
        assert connection.execute("SELECT 1").fetchone() == (1,)

    def test_one_that_is_talked_nonsense_to_is_closed(self, connection):
        """It was a fault (500), and the connection went on."""
        with pytest.raises(psycopg.OperationalError, match="nonsense"):
            connection.wait(raising(psycopg.DatabaseError("insufficient data in D message")))
        assert connection.closed

    def test_one_that_broke_under_a_transaction_is_an_outage(self, connection):
        error = psycopg.ProgrammingError("transaction status UNKNOWN")
        with pytest.raises(psycopg.OperationalError, match="gone"):
            connection.wait(raising(error, first=connection.pgconn.finish))

    def test_a_fault_of_ours_stays_one(self, connection):
        with pytest.raises(psycopg.ProgrammingError, match="of ours"):
            connection.wait(raising(psycopg.ProgrammingError("of ours")))
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT nothing")
        assert connection.execute("SELECT 1").fetchone() == (1,)

    def test_a_table_that_is_not_there_is_an_outage_of_a_server_and_a_fault_of_a_command(
        self, connection
    ):
        with pytest.raises(psycopg.OperationalError) as outage:
            connection.execute("SELECT * FROM nowhere")
        assert outage.value.sqlstate == UNDEFINED_TABLE
        connection.answers_within = None
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM nowhere")
        assert connection.execute("SELECT 1").fetchone() == (1,)

    def test_one_without_a_limit_waits(self, connection):
        connection.answers_within = None
        assert connection.execute("SELECT pg_sleep(%s)", [2 * SHORT]).fetchone() == ("",)

    def test_a_limit_of_the_caller_goes_before(self, connection):
        with pytest.raises(psycopg.OperationalError):
            connection.wait(iter_of(connection), timeout=SHORT)
        assert connection.closed


def iter_of(connection: psycopg.Connection) -> Iterator[psycopg.waiting.Wait]:
    """Waits for an answer to a statement that sleeps."""
    connection.pgconn.send_query(b"SELECT pg_sleep(3)")
    while True:
        yield psycopg.waiting.Wait.R


def raising(
    error: psycopg.Error, *, first: Callable[[], object] = lambda: None
) -> Iterator[psycopg.waiting.Wait]:
    """Does what the answer to a statement does whose bytes make no sense."""
    first()
    yield from ()
    raise error
