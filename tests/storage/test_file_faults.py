"""Who names a file that cannot be used reads what the system said, and what to do."""

import errno

import pytest

from copilot_admin.storage.file_faults import told_of_reading, told_of_writing


@pytest.mark.parametrize(
    ("told", "number", "sentence"),
    [
        (
            told_of_writing,
            errno.ENOENT,
            "a cannot be written: No such file or directory. Make its folder first, or name another file.",
        ),
        (
            told_of_writing,
            errno.EROFS,
            "a cannot be written: Read-only file system. Let this account write there, or name another file.",
        ),
        (told_of_writing, errno.EISDIR, "a cannot be written: Is a directory. Name a file."),
        (told_of_writing, errno.EIO, "a cannot be written: Input/output error."),
        (
            told_of_reading,
            errno.EACCES,
            "a cannot be read: Permission denied. Let this account read it.",
        ),
    ],
)
def test_a_refusal_says_what_to_do(told, number, sentence):
    assert told("a", OSError(number, "as it was told", "another name")) == sentence


def test_a_refusal_without_a_number_names_the_file():
    assert told_of_writing("a", OSError("odd")) == "a cannot be written."
