"""An error says that somebody else came first only if the database was whole."""

import sqlite3

from django.db import DatabaseError
import pytest

from copilot_admin.storage.races import Race, race_of


def test_a_row_that_was_not_there_to_be_updated_is_gone():
    assert race_of(DatabaseError("Save with update_fields did not affect any rows.")) is Race.GONE


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB])
def test_a_damaged_file_is_no_row_that_is_gone(code):
    """Django raises the same class for it, with what SQLite said as its cause."""
    cause = sqlite3.DatabaseError("database disk image is malformed")
    cause.sqlite_errorcode = code
    error = DatabaseError(*cause.args)
    error.__cause__ = cause
    assert race_of(error) is None
