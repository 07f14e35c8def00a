"""Asks this server under the address at which people reach it: through its proxy, name and TLS."""

from asyncio import Semaphore
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from types import MappingProxyType
from urllib.parse import urlsplit

from aiohttp import (
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
)
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.agent.fetching.tls_faults import TlsFault, tls_fault
from copilot_admin.connection_test.values import Answer, Unreached

MOST_BYTES = 4 * 1024 * 1024  # an answer to one question, or a document of some hundred copilots
# Of one test. All of its steps at once would be a crowd that has to wait for itself: with hundreds of
# copilots a small server then gives up, and the test would tell of nothing but itself.
_AT_ONCE = 3
_TLS_WORDS = MappingProxyType(
    {
        TlsFault.EXPIRED: gettext_lazy("Its certificate has expired: browsers refuse it as well."),
        TlsFault.TOO_EARLY: gettext_lazy(
            "Its certificate is not valid yet. Set the clocks of both machines."
        ),
        TlsFault.OTHER_HOST: gettext_lazy(
            "Its certificate is for another host: browsers refuse it as well."
        ),
        TlsFault.UNKNOWN_ISSUER: gettext_lazy(
            "Its certificate is signed by nobody whom this server trusts. Browsers refuse it as well, "
            "unless their machines know who signed it and this one does not."
        ),
        TlsFault.OTHER: gettext_lazy(
            "Its certificate is not one that is trusted: browsers refuse it as well."
        ),
        TlsFault.NO_TLS: gettext_lazy("No encrypted connection could be made with it."),
    }
)


def may_be_asked(base: str, *, public_url: str, server_port: str) -> bool:
    """Whether an address is this server's own: the setting's, or one on a port that it has.

    Of an address that came with a request its host was checked against ALLOWED_HOSTS, but its port
    is whatever the sender wrote: nobody is to look through the ports of this machine with it.

    Args:
        base: Address under which people reach the server.
        public_url: The setting of that name.
        server_port: On which the server listens.
    """
    if public_url:
        return True
    port = urlsplit(base).port
    return port is None or str(port) == server_port


@dataclass(frozen=True, slots=True)
class ConnectionAsker:
    """Asks one server with a session that keeps no cookies and follows no redirects."""

    base: str
    session: ClientSession = field(repr=False)
    turn: Semaphore = field(default_factory=partial(Semaphore, _AT_ONCE), repr=False)

    async def __call__(
        self,
        method: str,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        seconds: float = 10.0,
    ) -> Answer:
        """Sends one request.

        Raises:
            Unreached: There is no answer, it does not end, or the address is not the server's.
        """
        if not is_within(address, self.base):
            text = _("%(address)s is not an address of this server, so it is not asked.")
            raise Unreached(text % {"address": address})
        async with self.turn:
            return await self._sent(method, address, headers, body, seconds)

    async def _sent(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str] | None,
        body: bytes,
        seconds: float,
    ) -> Answer:
        began = monotonic()
        try:
            async with self.session.request(
                method,
                address,
                headers=headers,
                data=body or None,
                allow_redirects=False,
                timeout=ClientTimeout(total=seconds),
            ) as response:
                return await _answer(response, began)
        except TimeoutError as error:
            text = _("It did not answer to the end within %(seconds)d seconds.")
            raise Unreached(text % {"seconds": seconds}) from error
        except (ClientError, OSError, ValueError) as error:
            raise Unreached(_why(error)) from error


@asynccontextmanager
async def asking(base: str, *, is_own: bool) -> AsyncGenerator[ConnectionAsker, None]:
    """A way to ask the server at an address.

    Args:
        base: The address.
        is_own: What `may_be_asked` says of it; if not, every request is refused.
    """
    async with ClientSession(cookie_jar=DummyCookieJar(), trust_env=False) as session:
        yield ConnectionAsker(base if is_own else "", session)


def is_within(address: str, base: str) -> bool:
    return bool(base) and address.startswith(f"{base}/") and "\\" not in address


async def _answer(response: ClientResponse, began: float) -> Answer:
    body, first = bytearray(), None
    async for part in response.content.iter_any():
        first = first if first is not None else _ms_since(began)
        body += part
        if len(body) > MOST_BYTES:
            text = _("Its answer is longer than %(size)d MB.")
            raise Unreached(text % {"size": MOST_BYTES // 2**20})
    return Answer(
        status=response.status,
        headers=_headers(response),
        body=bytes(body),
        first_ms=first,
        ms=_ms_since(began),
    )


def _headers(response: ClientResponse) -> dict[str, str]:
    names = {name.lower() for name in response.headers}
    return {name: ", ".join(response.headers.getall(name)) for name in names}


def _ms_since(began: float) -> int:
    return round((monotonic() - began) * 1000)


def _why(error: Exception) -> str:
    if fault := tls_fault(error):
        return str(_TLS_WORDS[fault])
    match error:
        case ClientConnectorDNSError():
            return _("Its name is not known to this machine.")
        case ClientConnectorError():
            return _("Nothing takes connections there.")
        case ValueError():
            return _("Its address cannot be used.")
        case _:
            return _("The connection broke.")
