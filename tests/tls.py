"""Certificates of a small authority of ours, good ones and bad ones, and servers that show them."""

from datetime import UTC, datetime, timedelta
from functools import cache, partial
from ipaddress import ip_address
from pathlib import Path
import ssl
from tempfile import TemporaryDirectory
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
import pytest

ADDRESS = "127.0.0.1"
_DAY = timedelta(days=1)
_PEM = serialization.Encoding.PEM


@cache
def _key(whose: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _begun(subject: str, *, issuer: str, since: timedelta, until: timedelta) -> Any:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(_key(subject).public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + since)
        .not_valid_after(now + until)
    )


@cache
def authority() -> str:
    """The certificate of the authority, in PEM."""
    made = _begun("Authority", issuer="Authority", since=-2 * _DAY, until=_DAY)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed: x509.Certificate = made.sign(_key("Authority"), hashes.SHA256())
    return signed.public_bytes(_PEM).decode()


def shown(
    *,
    host: str = ADDRESS,
    issuer: str = "Authority",
    since: timedelta = -2 * _DAY,
    until: timedelta = _DAY,
) -> ssl.SSLContext:
    """What a server with a certificate begins connections with."""
    made = _begun("Server", issuer=issuer, since=since, until=until)
    made = made.add_extension(
        x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=False
    )
    text = made.sign(_key(issuer), hashes.SHA256()).public_bytes(_PEM)
    text += _key("Server").private_bytes(
        _PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with TemporaryDirectory() as folder:  # the library reads files alone
        file = Path(folder) / "both.pem"
        file.write_bytes(text)
        context.load_cert_chain(file)
    return context


def client_certificate(folder: Path) -> str:
    """Write a certificate of a client with its key; return the path."""
    text = _begun("Client", issuer="Authority", since=-2 * _DAY, until=_DAY)
    signed = text.sign(_key("Authority"), hashes.SHA256()).public_bytes(_PEM)
    key = _key("Client").private_bytes(
        _PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "client.pem"
    file.write_bytes(signed + key)
    return str(file)


expired = partial(shown, until=-_DAY)
too_early = partial(shown, since=_DAY / 2)
of_another_host = partial(shown, host="192.0.2.1")
of_a_stranger = partial(shown, issuer="Stranger")


def trusting() -> ssl.SSLContext:
    """A client that trusts the authority."""
    return ssl.create_default_context(cadata=authority())


def trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has aiohttp's clients trust the authority: it makes what they share when it is imported."""
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", trusting())
