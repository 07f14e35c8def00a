"""Database errors are told apart."""

from collections import namedtuple
import shutil
import sqlite3
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
)
import pytest

from copilot_admin.storage.errors import (
    MIN_FREE_BYTES,
    WriteConflict,
    conflict_of,
    find_disk_problem,
    is_outage,
    is_refusal,
)


def caused(error: Exception, **codes: Any) -> Exception:
    cause = Exception()
    vars(cause).update(codes)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "outage", "refusal"),
    [
        (OperationalError("gone"), True, False),
        (InterfaceError("closed"), True, False),
        (InternalError("read-only"), True, False),
        (IntegrityError("broken"), False, True),
        (DataError("too long"), False, True),
        (ProgrammingError("no table"), False, True),
        (caused(OperationalError(), sqlite_errorcode=sqlite3.SQLITE_ERROR), True, True),
        (caused(OperationalError(), sqlite_errorcode=sqlite3.SQLITE_FULL), True, False),
        (ValueError(), False, False),
    ],
)
def test_an_outage_may_pass_and_a_refusal_does_not(error, outage, refusal):
    assert (is_outage(error), is_refusal(error)) == (outage, refusal)


FOREIGN_KEY, UNIQUE = sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE


@pytest.mark.parametrize(
    ("error", "conflict"),
    [
        (ObjectDoesNotExist(), WriteConflict.GONE),
        (DatabaseError("Save with update_fields did not affect any rows."), WriteConflict.GONE),
        (caused(IntegrityError(), sqlstate="23503"), WriteConflict.GONE),
        (caused(IntegrityError(), sqlite_errorcode=FOREIGN_KEY), WriteConflict.GONE),
        (caused(IntegrityError(), sqlstate="23505"), WriteConflict.TAKEN),
        (caused(IntegrityError(), sqlite_errorcode=UNIQUE), WriteConflict.TAKEN),
        (caused(IntegrityError(), sqlstate="23502"), None),
        (OperationalError(), None),
    ],
)
def test_a_conflict_with_another_change_is_recognised(error, conflict):
    assert conflict_of(error) is conflict


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(("free", "problem"), [(MIN_FREE_BYTES, ""), (0, "the disk of {} is full")])
def test_a_full_disk_is_a_problem(settings, monkeypatch, tmp_path, free, problem):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(2 * free, free, free))
    assert find_disk_problem() == problem.format(tmp_path)
