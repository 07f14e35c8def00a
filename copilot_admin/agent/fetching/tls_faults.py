"""Errors of TLS: the problem with a certificate, and its remedy."""

from ssl import SSLCertVerificationError
from typing import NamedTuple

from aiohttp import ClientConnectorSSLError

from copilot_admin.errors import iter_causes


class TlsFault(NamedTuple):
    """Cause of a failed TLS connection, and advice for the operator of either machine."""

    sentence: str
    advice: str

    def describe(self, server: str) -> str:
        return self.sentence.format(server)


EXPIRED = TlsFault("The certificate of {} has expired.", "have it renewed")
TOO_EARLY = TlsFault(
    "The certificate of {} is not valid yet.", "have the clocks of both machines set"
)
OTHER_HOST = TlsFault(
    "The certificate of {} is for another host.",
    "name the server as its certificate does, or have one issued for this name",
)
UNKNOWN_ISSUER = TlsFault(
    "The certificate of {} isn't signed by an issuer that this server trusts.",
    "have it sent with its whole chain, or name its issuer to this server (SSL_CERT_FILE)",
)
OTHER = TlsFault(
    "The certificate of {} is not accepted.",
    "have another one issued: `openssl s_client` says what is wrong with this one",
)
NO_TLS = TlsFault(
    "No encrypted connection could be made with {}.",
    "check the address: whether it is one of https://, and the port",
)
_BY_VERDICT = {
    9: TOO_EARLY,
    10: EXPIRED,
    **dict.fromkeys((2, 18, 19, 20, 21, 27), UNKNOWN_ISSUER),
    **dict.fromkeys((62, 64), OTHER_HOST),
}


def tls_fault(error: BaseException) -> TlsFault | None:
    """Return the TLS fault of a failed connection, or None if it failed for another reason."""
    found = None
    for cause in iter_causes(error):
        if isinstance(cause, SSLCertVerificationError):
            # Only OpenSSL's own has a number; it leads to that of the HTTP client, which is one as well.
            found = _BY_VERDICT.get(getattr(cause, "verify_code", 0), OTHER)
        elif isinstance(cause, ClientConnectorSSLError):
            found = NO_TLS
    return found
