"""What came from PostgreSQL and cannot be read is a fault of the database's, whatever converts it."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import psycopg
from psycopg.pq import ExecStatus
from psycopg.types.datetime import DateLoader
from psycopg.types.numeric import IntLoader, NumericLoader
from psycopg.types.string import TextLoader
from psycopg.types.uuid import UUIDLoader
import pytest

from copilot_admin.storage.readable_rows import ReadableRowsCursor
from tests.services import DATABASE_URL

pytestmark = pytest.mark.postgres
GARBLED = "SELECT 'x1'::text FROM generate_series(1, 3)"


@pytest.fixture
def connection() -> Iterator[psycopg.Connection[Any]]:
    connecting = psycopg.connect(DATABASE_URL, autocommit=True, cursor_factory=ReadableRowsCursor)
    with connecting as connection:
        yield connection


@pytest.mark.parametrize("loader", [IntLoader, NumericLoader, UUIDLoader])
def test_a_value_that_is_none_of_its_type_is_an_outage_and_ends_the_connection(connection, loader):
    """Each was a fault of the server's (500): its converter raises an error of its own."""
    connection.adapters.register_loader("text", loader)
    with pytest.raises(psycopg.OperationalError, match="cannot be read"):
        connection.execute(GARBLED).fetchone()
    assert connection.closed


def test_a_time_that_no_calendar_has_is_one_and_the_connection_goes_on(connection):
    """Somebody may have stored it, and the rows beside it are good."""
    connection.adapters.register_loader("text", DateLoader)
    with pytest.raises(psycopg.OperationalError, match="cannot be read"):
        connection.execute(GARBLED).fetchone()
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_text_of_no_characters_is_one_too(connection):
    connection.adapters.register_loader("bytea", _as_text())
    with pytest.raises(psycopg.OperationalError, match="cannot be read"):
        connection.execute(r"SELECT '\xff'::bytea").fetchone()


@pytest.mark.parametrize(
    "read",
    [
        psycopg.Cursor.fetchone,
        psycopg.Cursor.fetchmany,
        psycopg.Cursor.fetchall,
        psycopg.Cursor.__next__,
    ],
)
def test_however_rows_are_read(connection, read: Callable[[Any], Any]):
    connection.adapters.register_loader("text", IntLoader)
    cursor = connection.execute(GARBLED)
    with pytest.raises(psycopg.OperationalError, match="cannot be read"):
        getattr(cursor, read.__name__)()


def test_what_can_be_read_is_and_a_fault_of_ours_stays_one(connection):
    cursor = connection.execute("SELECT 1 FROM generate_series(1, 6)")
    assert (cursor.fetchone(), cursor.fetchmany(2), next(cursor)) == ((1,), [(1,)] * 2, (1,))
    assert (cursor.fetchall(), cursor.fetchone(), list(cursor)) == ([(1,)] * 2, None, [])
    with pytest.raises(psycopg.ProgrammingError):
        connection.execute("SET jit = off").fetchone()
    assert not connection.closed


def _as_text() -> type[TextLoader]:
    class Undecoded(TextLoader):
        """Reads what is no text as one: `\\xff` is sent as letters, so they are taken back."""

        def load(self, data: Any) -> str:
            return bytes.fromhex(bytes(data)[2:].decode()).decode()

    return Undecoded


@pytest.mark.parametrize(("rows", "sent"), [(0, 1), (1, 2), (2, 1)])
def test_rows_of_another_number_than_were_sent_are_an_outage(connection, rows, sent):
    """One that was lost on the way was taken for one that is not there."""
    cursor = connection.execute("SELECT generate_series(1, %s)", [rows])
    cursor.pgresult = SimpleNamespace(
        status=ExecStatus.TUPLES_OK, ntuples=rows, command_tuples=sent
    )
    with pytest.raises(psycopg.OperationalError, match="not all rows"):
        cursor.fetchall()
    assert connection.closed


def test_statements_of_which_no_number_is_told_are_read(connection):
    assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
    assert len(connection.execute("EXPLAIN SELECT 1").fetchall()) == 1
    assert not connection.closed
