"""The tables are made by one process of a run, and copied by the others."""

from contextlib import closing
from pathlib import Path
import sqlite3

import pytest

from tests.ready_tables import ready_tables


def make(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE answer (text)")


def tables(database: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT name FROM sqlite_schema").fetchall()


def test_the_first_makes_them_and_the_second_copies(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    with ready_tables(tmp_path, first) as copied:
        assert not copied
        make(first)
    with ready_tables(tmp_path, second) as copied:
        assert copied
        assert tables(second) == [("answer",)]


def test_where_the_first_fails_the_next_one_makes_them(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    with pytest.raises(KeyError), ready_tables(tmp_path, first):
        raise KeyError
    with ready_tables(tmp_path, second) as copied:
        assert not copied
        make(second)
