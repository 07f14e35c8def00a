"""The connections of every HTTP client here: a head is heard for itself, and no more than a few in one answer.

aiohttp reads past interim answers (`100 Continue`) without a turn for anybody else, and queues as
many heads as a server sends: a flood of them would hold the loop for seconds.
Source: https://www.rfc-editor.org/rfc/rfc9110#section-15.2

Where the framing of a body breaks, it drops what came in the same read, the head too: whoever asked is
told that there was no answer. So the read with the head is taken apart.
"""

import asyncio
from collections.abc import Callable
from functools import partial
import socket
from typing import Any

from aiohttp import AddrInfoType, ClientConnectionError, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage
from aiohttp.streams import StreamReader

from copilot_admin.agent.fetching.names import Names

HEAD_ENDS = b"\r\n\r\n"
INTERIM_BELOW = 200  # the status of heads that are not that of the answer
MOST_HEADS = 16  # of one answer; a server sends one or two before its own


class TooManyHeads(ClientConnectionError):
    """A server sent one head after another."""

    def __init__(self) -> None:
        super().__init__("The server sends one interim answer after another.")


class BoundedResponses(ResponseHandler):
    """The stock protocol; what it counts are the heads since it was last asked something."""

    _heads = 0
    _awaits_answer = False

    def set_response_params(self, **params: Any) -> None:
        """Counts heads anew for the request that begins."""
        self._heads = 0
        self._awaits_answer = True
        super().set_response_params(**params)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Takes a head, or ends a connection on which too many come."""
        self._heads += 1
        self._awaits_answer = data[0].code < INTERIM_BELOW
        if self._heads <= MOST_HEADS:
            super().feed_data(data, size)
        elif self.transport is not None:
            self.transport.abort()  # what the kernel holds of the flood is not read any more
            self.set_exception(TooManyHeads())

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Goes on where reading was paused; aiohttp also asks for it where it was not, for every chunk.

        It then parses nothing once more, and has the transport resume what it never stopped.
        """
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def data_received(self, data: bytes) -> None:
        """Something was read; what follows the head by itself, since it may break."""
        for _ in range(MOST_HEADS):  # line ends may be in it by the thousand, before any head
            if not self._awaits_answer or HEAD_ENDS not in data:
                break
            head, end, data = data.partition(HEAD_ENDS)
            super().data_received(head + end)
            if not data or self.exception() is not None:
                return
        super().data_received(data)


class BoundedConnector(TCPConnector):
    """aiohttp's connector, with connections of that protocol.

    Args:
        names: Looks up the names of hosts.
        limit: Connections at the most.
        socket_factory: Makes the socket of a connection.
    """

    def __init__(
        self,
        names: Names,
        *,
        limit: int = 100,
        socket_factory: Callable[[AddrInfoType], socket.socket] | None = None,
    ) -> None:
        super().__init__(limit=limit, socket_factory=socket_factory, resolver=names)
        # There is no argument for it; a test sees whether it still makes the connections.
        protocol: type[ResponseHandler] = BoundedResponses
        self._factory = partial(protocol, loop=asyncio.get_running_loop())
