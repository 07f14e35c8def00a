"""The spool keeps whole files only, and survives what a disk may do."""

import errno
import os
from pathlib import Path
from uuid import UUID

import pytest

from copilot_admin.storage.spool import Spool

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


def test_an_entry_is_synced_with_its_folder_and_read_back(folder, monkeypatch):
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").is_dir()))
    spool = Spool()
    spool.put(KEY, {"a": 1})
    spool.put(KEY, {"a": 2})
    assert synced == [False, True] * 2
    assert list(spool.entries()) == [(folder / f"{KEY}.json", {"a": 2})]
    assert spool.size() == (1, len('{"a": 2}'))
    spool.remove(folder / f"{KEY}.json")
    assert list(spool.entries()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EFBIG])
def test_an_entry_that_cannot_be_written_leaves_nothing_behind(folder, monkeypatch, number):
    monkeypatch.setattr(os, "fsync", failing(number))
    with pytest.raises(OSError, match=os.strerror(number)):
        Spool().put(KEY, {"a": 1})
    assert names(folder) == []


def test_a_full_spool_takes_no_more_and_keeps_what_it_has(folder):
    spool = Spool(max_bytes=20)
    spool.put(KEY, {"a": "b"})
    with pytest.raises(OSError, match="is full"):
        spool.put(UUID(int=2), {"a": "bcdefghi"})
    assert names(folder) == [f"{KEY}.json"]


def test_rejected_files_take_no_space_and_belong_to_their_run(folder):
    spool = Spool(max_bytes=20)
    spool.put(KEY, {"a": "b"})
    spool.reject(folder / f"{KEY}.json")
    spool.put(KEY, {"a": "b"})
    (folder / "README").write_text("not ours")
    assert (spool.count_rejected(), spool.size()[0], list(spool.run_ids())) == (1, 1, [KEY])
    spool.remove_run(KEY)
    assert names(folder) == ["README"]


def test_only_one_process_replays(folder):
    with Spool().lock() as first, Spool().lock() as second:
        assert (first, second) == (True, False)
    with Spool().lock() as again:
        assert again
    folder.rmdir()
    with Spool().lock() as without_folder:
        assert without_folder


def test_a_file_that_cannot_be_read_or_moved_is_logged_and_stays(folder, monkeypatch, caplog):
    path = folder / "a.json"
    path.write_bytes(b"{}")
    with monkeypatch.context() as patch:
        for method in ("read_bytes", "replace", "unlink"):
            patch.setattr(Path, method, failing(errno.EROFS))
        assert list(Spool().entries()) == []
        Spool().reject(path)
        Spool().remove(path)
    assert caplog.text.count("Read-only file system") == 3
    assert names(folder) == ["a.json"]
