"""Statements that take longer than a claim lasts: whoever waits for one goes on saying that he is at work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import threading

from django import db

from copilot_admin.errors import Unavailable
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store import HEARTBEAT_SECONDS


@contextmanager
def kept_claimed(claim: Callable[[], object]) -> Iterator[None]:
    """Renews a claim every few seconds until the block ends; its own thread is busy in it.

    Args:
        claim: Renews it; called on the thread that writes. While the database is away it is tried again.
    """
    is_over = threading.Event()

    def renew() -> None:
        while not is_over.wait(HEARTBEAT_SECONDS):
            with suppress(db.Error, Unavailable):
                WRITER.submit(claim).result()

    thread = threading.Thread(target=renew, name="claim", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
