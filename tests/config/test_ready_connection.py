"""A connection to SQLite that cannot be made ready leaves no open file."""

import sqlite3

from django.db.backends.sqlite3.base import DatabaseWrapper
import pytest

from copilot_admin.config.databases import database
from copilot_admin.config.ready_connection import ReadyConnection

FULL = {"TIME_ZONE": None, "AUTOCOMMIT": True, "CONN_HEALTH_CHECKS": False}


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        return connection.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False


def test_it_is_closed_where_django_finds_that_it_cannot_be_made_ready(tmp_path):
    """Django drops it, and what is dropped stays open until the collector comes."""
    made: list[sqlite3.Connection] = []

    class Noted(ReadyConnection):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self)

    settings = {**FULL, **database("", data_dir=tmp_path)}
    settings["OPTIONS"] = settings["OPTIONS"] | {"factory": Noted, "init_command": "no SQL"}
    wrapper = DatabaseWrapper(settings)
    with pytest.raises(sqlite3.OperationalError, match="syntax error"):
        wrapper.connect()
    assert [is_open(one) for one in made] == [False]


def test_a_statement_of_a_cursor_that_is_refused_closes_nothing():
    connection = sqlite3.connect(":memory:", factory=ReadyConnection)
    with pytest.raises(sqlite3.OperationalError):
        connection.cursor().execute("no SQL")
    assert connection.execute("SELECT 1").fetchall() == [(1,)]
    connection.close()
