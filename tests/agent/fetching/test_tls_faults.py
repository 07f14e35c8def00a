"""What is wrong with a certificate, as OpenSSL finds it, in words."""

import ssl
from ssl import SSLCertVerificationError

from aiohttp import ClientConnectorSSLError
import pytest

from copilot_admin.agent.fetching import tls_faults
from copilot_admin.agent.fetching.tls_faults import tls_fault
from tests import tls


def refusal(server: ssl.SSLContext) -> ssl.SSLError | None:
    """Why a client of the authority does not go on with a server; None: it does. Nothing is sent."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = tls.trusting().wrap_bio(to_client, to_server, server_hostname=tls.ADDRESS)
    shows = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, shows, client):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLError as error:
            return error
    return None


@pytest.mark.parametrize(
    ("server", "fault"),
    [
        (tls.shown, None),
        (tls.expired, tls_faults.EXPIRED),
        (tls.too_early, tls_faults.TOO_EARLY),
        (tls.of_another_host, tls_faults.OTHER_HOST),
        (tls.of_a_stranger, tls_faults.UNKNOWN_ISSUER),
    ],
)
def test_what_is_wrong_with_a_certificate_is_known(server, fault):
    error = refusal(server())
    assert (error and tls_fault(error)) == fault


def test_what_has_no_number_is_not_accepted_and_what_is_no_fault_of_tls_is_none():
    assert tls_fault(SSLCertVerificationError("it names nobody")) is tls_faults.OTHER
    assert tls_fault(ConnectionResetError("reset")) is None
    assert tls_fault(ssl.SSLError("amid an answer")) is None


def test_what_speaks_no_tls_is_known():
    error = ClientConnectorSSLError.__new__(ClientConnectorSSLError)
    assert tls_fault(error) is tls_faults.NO_TLS
