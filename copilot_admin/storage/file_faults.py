"""A file that the system does not let a command write or read: what it said, and what to do."""

from collections.abc import Mapping
import errno
from os import PathLike, strerror
from types import MappingProxyType

_NO_ROOM = "Make room, or name a file on another disk."
_NOT_LET = "Let this account write there, or name another file."
_OF_BOTH = {
    errno.EISDIR: "Name a file.",
    errno.ENOTDIR: "Name a file whose folder is one.",
    errno.ENAMETOOLONG: "Name a shorter one.",
    errno.ELOOP: "Name the file itself, not a link.",
}
_OF_WRITING: Mapping[int, str] = MappingProxyType(
    {
        **_OF_BOTH,
        errno.ENOENT: "Make its folder first, or name another file.",
        errno.EEXIST: "Name another file, or move it away.",
        errno.EACCES: _NOT_LET,
        errno.EPERM: _NOT_LET,
        errno.EROFS: _NOT_LET,
        errno.ENOSPC: _NO_ROOM,
        errno.EDQUOT: _NO_ROOM,
        errno.EFBIG: _NO_ROOM,
    }
)
_OF_READING: Mapping[int, str] = MappingProxyType(
    {
        **_OF_BOTH,
        errno.ENOENT: "Name one that is there.",
        errno.EACCES: "Let this account read it.",
        errno.EPERM: "Let this account read it.",
    }
)


def told_of_writing(file: str | PathLike[str], error: OSError) -> str:
    """Why a file could not be written, and what to do.

    Args:
        file: As it was named: an error of a disk that is full has no name.
        error: What the system said.
    """
    return _told(f"{file} cannot be written", error, _OF_WRITING)


def told_of_reading(file: str | PathLike[str], error: OSError) -> str:
    """Why a file could not be read, and what to do."""
    return _told(f"{file} cannot be read", error, _OF_READING)


def _told(what: str, error: OSError, advice: Mapping[int, str]) -> str:
    if error.errno is None:
        return f"{what}."
    return f"{what}: {strerror(error.errno)}. {advice.get(error.errno, '')}".rstrip()
