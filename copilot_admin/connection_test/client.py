"""HTTP client that reaches this server at its public URL: through its proxy, name and TLS."""

from asyncio import Semaphore
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientConnectorDNSError, ClientConnectorError, ClientError, ClientResponse
from django.utils.translation import gettext as _

from copilot_admin.agent.fetching.egress import Egress
from copilot_admin.agent.fetching.tls_faults import tls_fault
from copilot_admin.connection_test.values import Answer, Unreached

MAX_BYTES = 4 * 1024 * 1024  # an answer to one question, or a document of some hundred copilots
# Requests of one test at a time; more would overload a small server with hundreds of copilots.
_AT_ONCE = 3


def is_own_url(base: str, *, public_url: str, server_port: str) -> bool:
    """Return whether a URL is this server's own: the configured one, or one on its port.

    The host of a request was checked against ALLOWED_HOSTS, but its port is up to the sender, who
    must not scan the ports of this machine.
    """
    port = urlsplit(base).port
    return bool(public_url) or port is None or str(port) == server_port


class ConnectionAsker:
    """Client for the server at a URL; without one, every request is refused."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._egress = Egress([urlsplit(base).hostname or ""], uses_proxy=False)
        self._slots = Semaphore(_AT_ONCE)

    async def __call__(
        self, method: str, address: str, *, seconds: float = 10.0, **options: Any
    ) -> Answer:
        """Send one request without cookies and redirects; raises `Unreached`."""
        if not is_within(address, self._base):
            text = _("%(address)s is not on this server, so it was not requested.")
            raise Unreached(text % {"address": address})
        async with self._slots:
            began = monotonic()
            try:
                async with self._egress.request(
                    method, address, seconds=seconds, **options
                ) as response:
                    return await _answer(response, began)
            except TimeoutError as error:
                text = _("No complete answer within %(seconds)d seconds.")
                raise Unreached(text % {"seconds": seconds}) from error
            except (ClientError, OSError, ValueError) as error:
                raise Unreached(_why(error)) from error


def is_within(address: str, base: str) -> bool:
    return bool(base) and address.startswith(f"{base}/") and "\\" not in address


async def _answer(response: ClientResponse, began: float) -> Answer:
    body, first = bytearray(), None
    async for part in response.content.iter_any():
        first = first if first is not None else _ms_since(began)
        body += part
        if len(body) > MAX_BYTES:
            text = _("The answer is larger than %(size)d MB.")
            raise Unreached(text % {"size": MAX_BYTES // 2**20})
    names = {name.lower() for name in response.headers}
    headers = {name: ", ".join(response.headers.getall(name)) for name in names}
    ms = _ms_since(began)
    return Answer(status=response.status, headers=headers, body=bytes(body), first_ms=first, ms=ms)


def _ms_since(began: float) -> int:
    return round((monotonic() - began) * 1000)


def _why(error: Exception) -> str:
    if fault := tls_fault(error):
        return _("%(fault)s Browsers reject it, too.") % {"fault": fault.describe("the server")}
    match error:
        case ClientConnectorDNSError():
            return _("The host name can't be resolved.")
        case ClientConnectorError():
            return _("The connection was refused.")
        case ValueError():
            return _("The URL is not valid.")
        case _:
            return _("The connection was closed.")
