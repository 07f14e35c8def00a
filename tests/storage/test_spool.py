"""The spool keeps whole files only, and stands what a disk may do."""

import errno
import fcntl
import os
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from copilot_admin.config.free_space import fault_of_disks
from copilot_admin.storage import spool as spool_module
from copilot_admin.storage.spool import Spool, SpoolFull

KEY = UUID(int=1)


@pytest.fixture
def folder(settings, tmp_path) -> Path:
    settings.DATA_DIR = tmp_path
    path = Path(tmp_path) / "spool"
    path.mkdir()
    return path


def failing(number: int):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EFBIG])
def test_an_entry_that_could_not_be_written_leaves_nothing_behind(folder, monkeypatch, number):
    monkeypatch.setattr(os, "fsync", failing(number))
    with pytest.raises(OSError, match=os.strerror(number)):
        Spool().put(KEY, {"a": 1})
    assert names(folder) == []


def test_an_entry_that_could_not_be_named_leaves_nothing_behind(folder, monkeypatch):
    monkeypatch.setattr(Path, "replace", failing(errno.EACCES))
    with pytest.raises(PermissionError):
        Spool().put(KEY, {"a": 1})
    assert names(folder) == []


def test_an_entry_is_whole_although_the_disk_takes_it_in_pieces(folder, monkeypatch):
    real = os.fdopen

    class Slow:
        def __init__(self, descriptor: Any) -> None:
            self._file: Any = real(descriptor, "wb", buffering=0)

        def __enter__(self):
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def fileno(self):
            return self._file.fileno()

        def write(self, data):
            return self._file.write(data[:3])

    monkeypatch.setattr(spool_module.os, "fdopen", lambda descriptor, *_, **__: Slow(descriptor))
    Spool().put(KEY, {"answer": "x" * 50})
    monkeypatch.undo()
    assert (folder / f"{KEY}.json").read_text() == '{"answer": "' + "x" * 50 + '"}'


def test_what_cannot_be_stored_takes_no_room_from_answers(folder):
    spool = Spool(max_bytes=20)
    spool.put(KEY, {"a": "b"})
    spool.set_aside(folder / f"{KEY}.json")
    (folder / "somebody's").write_text("x" * 100)
    spool.put(KEY, {"a": "b"})
    assert names(folder) == [f"{KEY}.bad", f"{KEY}.json", "somebody's"]


def test_a_full_spool_takes_no_more_and_keeps_what_it_has(folder):
    spool = Spool(max_bytes=20)
    spool.put(KEY, {"a": "b"})
    with pytest.raises(SpoolFull):
        spool.put(UUID(int=2), {"a": "bcdefghi"})
    assert names(folder) == [f"{KEY}.json"]


def test_a_file_that_goes_while_the_spool_is_measured_is_no_error(folder, monkeypatch):
    (folder / "gone.json").write_bytes(b"{}")
    monkeypatch.setattr(Path, "lstat", failing(errno.ENOENT))
    Spool().put(KEY, {"a": 1})
    assert (folder / f"{KEY}.json").exists()


def test_what_is_no_file_of_the_spool_is_neither_read_nor_in_the_way(folder):
    os.mkfifo(folder / "pipe.json")  # whoever reads it waits for ever
    os.mkfifo(folder / "pipe.tmp")
    (folder / "folder.json").mkdir()
    (folder / "loop.json").symlink_to(folder / "loop.json")
    (folder / "foreign.json").symlink_to("/dev/zero")
    spool = Spool()
    spool.put(KEY, {"a": 1})
    spool.clean()
    assert list(spool.entries()) == [(folder / f"{KEY}.json", {"a": 1})]


def test_a_file_that_is_larger_than_the_whole_spool_is_not_read(folder):
    (folder / "a.json").write_bytes(b'{"a": "long"}')
    assert [entry for _, entry in Spool(max_bytes=12).entries()] == [{}]


def test_of_two_processes_one_takes_what_lies_in_the_folder(folder, monkeypatch):
    with Spool().taken() as first, Spool().taken() as second:
        assert (first, second) == (True, False)
    with Spool().taken() as again:
        assert again
    monkeypatch.setattr(fcntl, "flock", failing(errno.ENOLCK))  # a file system without locks
    with Spool().taken() as first, Spool().taken() as second:
        assert (first, second) == (True, True)
    folder.rmdir()
    with Spool().taken() as nothing:
        assert nothing


def test_leftovers_of_dead_processes_go_and_what_is_being_written_stays(folder, caplog):
    (folder / "dead.tmp").write_bytes(b'{"half')
    (folder / "kept.json").write_bytes(b"{}")
    with (folder / "alive.tmp").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        Spool().clean()
    assert names(folder) == ["alive.tmp", "kept.json"]
    assert "alive.tmp stays in the spool" in caplog.text


def test_a_leftover_that_another_process_removes_is_no_error(folder, monkeypatch, caplog):
    (folder / "gone.tmp").write_bytes(b'{"half')
    monkeypatch.setattr(Path, "open", failing(errno.ENOENT))
    Spool().clean()
    assert caplog.text == ""


def test_a_file_system_without_locks_takes_entries_all_the_same(folder, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", failing(errno.ENOLCK))
    Spool().put(KEY, {"a": 1})
    assert names(folder) == [f"{KEY}.json"]


def test_a_file_that_cannot_be_read_is_passed_over(folder, monkeypatch, caplog):
    (folder / "a.json").write_bytes(b"{}")
    monkeypatch.setattr(Path, "read_bytes", failing(errno.EACCES))
    assert list(Spool().entries()) == []
    assert "a.json cannot be read in the spool: Permission denied" in caplog.text


@pytest.mark.parametrize("content", [b"", b'{"half', b"\xff", b"[" * 100_000])
def test_a_file_that_is_not_whole_holds_nothing(folder, content):
    (folder / "a.json").write_bytes(content)
    assert [entry for _, entry in Spool().entries()] == [{}]


@pytest.mark.parametrize(("method", "door"), [("replace", "set_aside"), ("unlink", "forget")])
def test_a_file_that_cannot_be_moved_is_told_and_stays(folder, monkeypatch, caplog, method, door):
    path = folder / "a.json"
    path.write_bytes(b"{}")
    monkeypatch.setattr(Path, method, failing(errno.EROFS))
    getattr(Spool(), door)(path)
    assert "a.json stays in the spool: Read-only file system" in caplog.text
    assert names(folder) == ["a.json"]


def test_a_folder_that_cannot_be_used_says_why(folder, monkeypatch):
    """`/readyz` said ready, and nothing said that answers wait in it."""
    spool = Spool()
    assert spool.fault() == fault_of_disks() == ""
    with monkeypatch.context() as patch:  # whoever runs the tests may read everything
        patch.setattr(spool_module.os, "access", lambda path, mode: path != folder)
        assert spool.fault() == fault_of_disks() == f"{folder} cannot be read or written to"
    folder.rmdir()
    assert spool.fault() == ""
    folder.write_text("")
    assert spool.fault() == fault_of_disks() == f"{folder} is no folder"
    folder.unlink()
    folder.symlink_to("nowhere")
    assert spool.fault() == f"{folder} is no folder"
