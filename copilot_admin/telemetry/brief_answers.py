"""Reads no more of a collector's answer than its status needs: in its place may be something else."""

import requests

MOST_BYTES = 65_536  # a collector says what it did not take; nobody here reads it


def brief_session() -> requests.Session:
    """A session that reads answers that say they are short, and leaves all others unread.

    The exporter reads whatever comes: an address that answers without an end took all of the memory.
    """
    session = requests.Session()
    session.hooks["response"].append(_leave)
    return session


def _leave(answer: requests.Response, **_options: object) -> None:
    """Closes the connection of an answer that may be long; a short one is read, and it stays."""
    length = answer.headers.get("Content-Length", "")
    # Packed, a few bytes are as many as anybody likes.
    is_plain = not answer.headers.get("Content-Encoding")
    if not (is_plain and length.isdecimal() and len(length) < 9 and int(length) <= MOST_BYTES):
        answer.close()
