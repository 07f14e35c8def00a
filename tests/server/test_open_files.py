"""A process that may open nothing more says so, and not all the time."""

import errno
import logging
import os
import time

import pytest

from copilot_admin.server import open_files
from copilot_admin.server.open_files import FullTable

SAID = (
    "This process may open no more files: new connections are closed at once. Raise its limit of open "
    "files."
)


def _tell(table: FullTable) -> None:
    with pytest.raises(StopIteration):  # it waits for nothing, so that no loop is needed
        table.tell().send(None)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refused)


def test_a_process_without_a_free_file_says_so_once_a_minute(full, monkeypatch, caplog):
    table = FullTable()
    for now in (0.0, 5.0, 59.0, 60.0, 61.0):
        monkeypatch.setattr(time, "monotonic", lambda now=now: now)
        _tell(table)
    monkeypatch.undo()
    assert caplog.record_tuples == [(open_files.__name__, logging.ERROR, SAID)] * 2


def test_one_that_can_open_files_says_nothing(caplog):
    _tell(FullTable())
    assert caplog.record_tuples == []
