"""Ids of a request: of its conversation, its run, and itself."""

import re
from typing import NamedTuple
from uuid import UUID, uuid4

_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}\Z")
# W3C Trace Context, version 00; ids of zeros are invalid.
_TRACEPARENT = re.compile(rb"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}\Z")


class Ids(NamedTuple):
    trace_id: str
    given: bool  # by the client
    run_id: UUID
    traceparent: str = ""  # of the sender (W3C Trace Context)

    @property
    def chat_id(self) -> str | None:
        """The trace id if the client sent it; one of the server's own names one request only."""
        return self.trace_id if self.given else None


def new_ids(trace_header: bytes | None, traceparent: bytes | None = None) -> Ids:
    """Return the ids of a request from its `X-Trace-Id` and `traceparent`, or new ones."""
    parent = traceparent.decode() if traceparent and _TRACEPARENT.match(traceparent) else ""
    if trace_header is not None and _ID.match(trace_header):
        return Ids(trace_header.decode(), given=True, run_id=uuid4(), traceparent=parent)
    return Ids(str(uuid4()), given=False, run_id=uuid4(), traceparent=parent)


def request_id(header: bytes | None) -> str:
    """Return the `X-Appbuilder-Request-Id` of a component API request, or a new one."""
    return header.decode() if header is not None and _ID.match(header) else str(uuid4())
