"""Too little room is named before a write fails."""

import os
from pathlib import Path
import shutil
from types import SimpleNamespace
from typing import Any

import pytest

from copilot_admin.config.free_space import (
    LEAST_BYTES,
    LEAST_FILES,
    fault_of_disks,
    folder_without_files,
    full_folder,
    read_only_folder,
)

GB = 1024**3


@pytest.fixture
def disk(monkeypatch) -> Any:
    def has(free: float, *, total: float) -> None:
        monkeypatch.setattr(
            shutil,
            "disk_usage",
            lambda folder: SimpleNamespace(total=total, free=free),
        )

    return has


@pytest.mark.parametrize(
    ("free", "total", "full"),
    [
        (LEAST_BYTES, 100 * GB, False),
        (LEAST_BYTES - 1, 100 * GB, True),
        (0, 100 * GB, True),
        (5.0, 100, False),
        (4.9, 100, True),
    ],
)
def test_a_disk_is_full_below_a_least(disk, settings, free, total, full):
    disk(free, total=total)
    assert full_folder() == (Path(settings.DATA_DIR) if full else None)


def test_a_folder_that_is_gone_takes_nothing(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "gone"
    assert full_folder() == tmp_path / "gone"


def test_the_folder_of_the_database_counts_too(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    database = settings.DATABASES["default"]
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.sqlite3")
    monkeypatch.setitem(database, "NAME", tmp_path / "gone" / "copilot.sqlite3")
    assert full_folder() == tmp_path / "gone"
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.postgresql")
    assert full_folder() is None


def test_a_folder_in_which_no_files_may_be_made_is_named(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    database = settings.DATABASES["default"]
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.postgresql")
    assert read_only_folder() is None
    # Whoever runs the tests may write everywhere: only the system's answer can be another one.
    monkeypatch.setattr(os, "access", lambda folder, mode: folder != tmp_path)
    assert read_only_folder() == tmp_path


@pytest.mark.parametrize(
    ("free", "total", "few"),
    [
        (LEAST_FILES, 10**6, False),
        (LEAST_FILES - 1, 10**6, True),
        (0, 10, True),
        (1, 20, False),
        (0, 0, False),  # it makes them as they are wanted
    ],
)
def test_a_disk_with_room_but_without_files_is_told(
    settings, tmp_path, disk, monkeypatch, free, total, few
):
    settings.DATA_DIR = tmp_path
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    disk(GB, total=GB)
    monkeypatch.setattr(os, "statvfs", lambda folder: SimpleNamespace(f_files=total, f_favail=free))
    assert folder_without_files() == (tmp_path if few else None)
    told = f"the disk of {tmp_path} takes no more files (no inodes are left)"
    assert fault_of_disks() == (told if few else "")


def test_a_folder_that_is_gone_is_told_as_that(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "gone"
    assert folder_without_files() == tmp_path / "gone"
    assert fault_of_disks() == f"{tmp_path / 'gone'} is gone"
