"""Keeps the start of a request in the event loop, so that a stream holds no thread.

Django sends `request_started` to synchronous receivers in a thread of the request's own, which
then waits, idle, for the end of the request. Under ASGI that thread is new and has no connection
of an earlier request: there is nothing for these receivers to close or to reset.
"""

from django.core.signals import request_started
from django.db import close_old_connections, reset_queries


def keep_start_in_event_loop() -> None:
    """Disconnects Django's own receivers; the end of a request still closes its connections."""
    for receiver in (close_old_connections, reset_queries):
        request_started.disconnect(receiver)
