"""Hands entries to standard output, or to a server that speaks syslog over TCP."""

from collections.abc import Sequence
from contextlib import suppress
import socket
import sys
import time

from copilot_admin.audit.lines import json_line, syslog_frame, syslog_line
from copilot_admin.config.audit_log import Destination, SyslogServer
from copilot_admin.models.audit import AuditEntry

CONNECT_SECONDS = 3.0
SEND_SECONDS = 5.0
LAST_WORD_SECONDS = 1.0  # a server that keeps what it was sent closes within it, or stays open


def send(entries: Sequence[AuditEntry], to: Destination, *, host: str) -> None:
    """Hands entries over.

    Raises:
        OSError: They have not all arrived; those that have come once more, under the same number.
    """
    if isinstance(to, SyslogServer):
        _send_over_tcp([syslog_frame(syslog_line(one, host=host)) for one in entries], to)
        return
    sys.stdout.write("".join(f"{json_line(one)}\n" for one in entries))
    sys.stdout.flush()


def _send_over_tcp(frames: Sequence[bytes], to: SyslogServer) -> None:
    """Sends, and waits until the server has read all of it: its closing says so.

    A server that keeps the connection open has taken what it did not refuse within that time.
    """
    with socket.create_connection((to.host, to.port), timeout=CONNECT_SECONDS) as connection:
        connection.settimeout(SEND_SECONDS)
        connection.sendall(b"".join(frames))
        connection.shutdown(socket.SHUT_WR)
        end = time.monotonic() + LAST_WORD_SECONDS
        with suppress(TimeoutError):
            while (left := end - time.monotonic()) > 0:  # one may talk without an end
                connection.settimeout(left)
                if not connection.recv(1024):
                    break
