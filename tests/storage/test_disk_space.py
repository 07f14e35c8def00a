"""Problems of the disk that holds the data."""

from collections import namedtuple
import shutil

import pytest

from copilot_admin.storage.errors import MIN_FREE_BYTES, find_disk_problem

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(("free", "problem"), [(MIN_FREE_BYTES, ""), (0, "the disk of {} is full")])
def test_a_full_disk_is_a_problem(settings, monkeypatch, tmp_path, free, problem):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(2 * free, free, free))
    assert find_disk_problem() == problem.format(tmp_path)
