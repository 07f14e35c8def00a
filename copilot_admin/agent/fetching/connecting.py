"""Connections of the egress client and the errors of TLS."""

import asyncio
from collections.abc import Callable
from enum import Enum
from functools import partial
import socket
from ssl import SSLCertVerificationError
from types import MappingProxyType
from typing import Any

from aiohttp import AddrInfoType, ClientConnectionError, ClientConnectorSSLError, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage
from aiohttp.streams import StreamReader

from copilot_admin.agent.fetching.names import Names
from copilot_admin.errors import iter_causes

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


ISSUERS = "SSL_CERT_FILE"  # the variable that names further issuers to OpenSSL


class TlsFault(Enum):
    """What is wrong, and what whoever runs one of the two machines has to do."""

    EXPIRED = ("The certificate of {} has expired.", "have it renewed")
    TOO_EARLY = (
        "The certificate of {} is not valid yet.",
        "have the clocks of both machines set",
    )
    OTHER_HOST = (
        "The certificate of {} is for another host.",
        "name the server as its certificate does, or have one issued for this name",
    )
    UNKNOWN_ISSUER = (
        "The certificate of {} is signed by nobody whom this server trusts.",
        "have it sent with its whole chain, or name its issuer to this server ({})",
    )
    OTHER = (
        "The certificate of {} is not accepted.",
        "have another one issued: `openssl s_client` says what is wrong with this one",
    )
    NO_TLS = (
        "No encrypted connection could be made with {}.",
        "check the address: whether it is one of https://, and the port",
    )

    def said(self, server: str) -> str:
        """The sentence that says it of a server."""
        return str(self.value[0]).format(server)

    def mend(self, issuers: str = ISSUERS) -> str:
        """What to do, as it stands behind "should".

        Args:
            issuers: The variable that names further issuers to the client.
        """
        return str(self.value[1]).format(issuers)

    def advice(self, issuers: str = ISSUERS) -> str:
        """The same as a sentence."""
        text = self.mend(issuers)
        return f"{text[0].upper()}{text[1:]}."


_BY_VERDICT = MappingProxyType(
    {9: TlsFault.TOO_EARLY, 10: TlsFault.EXPIRED}
    | dict.fromkeys((2, 18, 19, 20, 21, 27), TlsFault.UNKNOWN_ISSUER)
    | dict.fromkeys((62, 64), TlsFault.OTHER_HOST)
)


def tls_fault(error: BaseException) -> TlsFault | None:
    """What is wrong with the encryption where a connection failed; None: something else is."""
    found = None
    for cause in iter_causes(error):
        if isinstance(cause, SSLCertVerificationError):
            # Only OpenSSL's own has a number; it leads to that of the HTTP client, which is one as well.
            found = _BY_VERDICT.get(getattr(cause, "verify_code", 0), TlsFault.OTHER)
        elif isinstance(cause, ClientConnectorSSLError):
            found = TlsFault.NO_TLS
    return found
