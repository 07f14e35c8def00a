"""A text that a command writes into a file is there as a whole, or the file is as it was."""

import errno
import os
from pathlib import Path
import stat

import pytest

from copilot_admin.management.whole_file import write_whole


def test_a_new_file_has_the_text_and_the_usual_mode(tmp_path):
    (tmp_path / "usual").touch()
    write_whole(tmp_path / "new", "é\n")
    assert (tmp_path / "new").read_bytes() == b"\xc3\xa9\n"
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert {one.name for one in tmp_path.iterdir()} == {"new", "usual"}


def test_a_file_keeps_its_mode_and_a_link_leads_where_it_led(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o600)
    link.symlink_to(file)
    write_whole(link, "new")
    assert (link.is_symlink(), file.read_text()) == (True, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("is_there", [True, False])
def test_what_cannot_be_written_whole_leaves_what_was_there(tmp_path, monkeypatch, is_there):
    if is_there:
        (tmp_path / "file").write_text("old")
    opened = Path.open

    def full(path, mode="r", **options):
        file = opened(path, mode, **options)
        written = file.write

        def write(text):
            written(text[:2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        file.write = write
        return file

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "file", "new text")
    monkeypatch.undo()
    found = {one.name: one.read_text() for one in tmp_path.iterdir()}
    assert found == ({"file": "old"} if is_there else {})


def test_a_pipe_is_written_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / "pipe", "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]
