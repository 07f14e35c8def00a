"""The ids of a request: of the chat it belongs to, of the run it starts, and of itself."""

import re
from typing import NamedTuple
from uuid import UUID, uuid4

TRACE_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}\Z")

# Source: https://www.w3.org/TR/trace-context/#traceparent-header, version 00; ids of zeros are none.
TRACEPARENT = re.compile(rb"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}\Z")


class Ids(NamedTuple):
    """The ids of one request.

    Attributes:
        given: The trace id is the client's own.
        traceparent: The span of whoever sent the request, as W3C Trace Context writes it; empty
            without one.
    """

    trace_id: str
    given: bool
    run_id: UUID
    traceparent: str = ""

    @property
    def chat_id(self) -> str | None:
        """The trace id if it is the client's own: one that the server made names one request."""
        return self.trace_id if self.given else None


def new_ids(trace_header: bytes | None, traceparent: bytes | None = None) -> Ids:
    """The ids of a request, made new where the client gave none that is usable.

    Args:
        trace_header: The value of `X-Trace-Id`.
        traceparent: The value of `traceparent`.
    """
    parent = ""
    if traceparent is not None and TRACEPARENT.match(traceparent):
        parent = traceparent.decode("ascii")
    if trace_header is not None and TRACE_ID.match(trace_header):
        return Ids(trace_header.decode("ascii"), given=True, run_id=uuid4(), traceparent=parent)
    return Ids(str(uuid4()), given=False, run_id=uuid4(), traceparent=parent)


def request_id(header: bytes | None) -> str:
    """The id by which a caller of the component API finds its request, or a new one.

    Args:
        header: The value of `X-Appbuilder-Request-Id`.
    """
    if header is not None and TRACE_ID.match(header):
        return header.decode("ascii")
    return str(uuid4())
