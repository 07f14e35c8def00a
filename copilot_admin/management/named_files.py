"""Files that somebody names on a command line."""

from argparse import ArgumentTypeError
from pathlib import Path


def named_file(text: str) -> Path:
    """The file of an argument; an empty one, as of a variable that is not set, would be the folder one is in.

    Raises:
        ArgumentTypeError: It names none.
    """
    if not text.strip():
        raise ArgumentTypeError("it is empty. Name a file.")
    return Path(text)
