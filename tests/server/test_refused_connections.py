"""A PostgreSQL that answers, and lets nobody in."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import socket
import ssl
import threading
from types import SimpleNamespace

from django.db import OperationalError
import pytest

from copilot_admin.server import refused_connections
from copilot_admin.server.database_faults import sentence_of
from copilot_admin.server.refused_connections import MOST_CHARACTERS, refusal_of_connections
from tests import tls
from tests.polling import HANGS_SECONDS

NO, YES = b"N", b"S"  # to a question for TLS
QUESTION_BYTES = 8
PASSWORD = "hunter2-of-the-address"


@contextmanager
def refusing(words: str) -> Iterator[int]:
    """The port of a server that speaks as much of PostgreSQL's protocol as a refusal takes."""
    fields = b"SFATAL\0VFATAL\0C28P01\0M" + words.encode() + b"\0\0"
    refusal = b"E" + (len(fields) + 4).to_bytes(4, "big") + fields

    def answer() -> None:
        with listener.accept()[0] as client:
            client.settimeout(HANGS_SECONDS)
            while len(client.recv(1024)) == QUESTION_BYTES:
                client.sendall(NO)
            client.sendall(refusal)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(HANGS_SECONDS)


@pytest.fixture
def said(monkeypatch, settings):
    """What is said of a pool that got no connection to a port."""
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")

    def of(port: int, **options: str) -> str:
        params = {"host": "127.0.0.1", "port": port, "user": "ann", "password": PASSWORD, **options}
        names = SimpleNamespace(get_connection_params=lambda: params)
        monkeypatch.setattr(refused_connections, "connection", names)
        return sentence_of(OperationalError("couldn't get a connection after 1.50 sec"))

    return of


@pytest.mark.parametrize(
    "words", ['password authentication failed for user "ann"', 'database "copilots" does not exist']
)
def test_its_words_are_told_in_one_line(said, words):
    with refusing(f"{words}\nand more") as port:
        assert said(port) == (
            f"PostgreSQL refuses the connection: {words}. Mend that, or DATABASE_URL."
        )


def test_nobody_there_is_told_as_that(said):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert said(port) == "PostgreSQL does not answer. Start it, or mend DATABASE_URL."


def test_a_server_without_tls_is_not_told_as_one_that_is_away(said):
    with refusing("nothing") as port:
        assert said(port, sslmode="require") == (
            "PostgreSQL refuses the connection: server does not support SSL, but SSL was required. "
            "Mend that, or DATABASE_URL."
        )


def test_nor_is_one_whose_certificate_is_not_good(said, tmp_path):
    (tmp_path / "issuers.pem").write_text(tls.authority())

    def answer() -> None:
        with listener.accept()[0] as client, suppress(ssl.SSLError):
            client.recv(QUESTION_BYTES)
            client.sendall(YES)
            tls.expired().wrap_socket(client, server_side=True).close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        options = {"sslmode": "verify-full", "sslrootcert": str(tmp_path / "issuers.pem")}
        told = said(listener.getsockname()[1], **options)
        thread.join(HANGS_SECONDS)
    assert told == (
        "PostgreSQL refuses the connection: SSL error: certificate verify failed. Mend that, or "
        "DATABASE_URL."
    )


def test_what_is_said_is_short_and_drives_no_terminal(monkeypatch):
    with refusing("\x1b[2J" + "x" * 10_000) as port:
        params = {"host": "127.0.0.1", "port": port, "password": PASSWORD}
        names = SimpleNamespace(get_connection_params=lambda: params)
        monkeypatch.setattr(refused_connections, "connection", names)
        words = refusal_of_connections()
    assert len(words) < MOST_CHARACTERS
    assert words.startswith("[2Jxxx")
    assert PASSWORD not in words
