"""Entries reach the configured destination at least once and in order; anchors are written hourly."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
import json
import logging
from pathlib import Path
import re
import socket
from threading import Thread
from typing import Any

from django.core.management import CommandError, call_command
from django.utils import timezone
import pytest

from copilot_admin.audit.chain import Anchor
from copilot_admin.audit.forwarding import (
    format_json,
    format_syslog,
    forward_entries,
    read_anchors,
    write_anchor,
)
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.config.observability import SyslogServer
from copilot_admin.models.audit import Action, AuditCursor, AuditCursorName, AuditEntry
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db


def add(name: str = "Macro") -> AuditEntry:
    return record(Action.CHANGED, by=Actor.server(), on=Subject("copilot", "1", name))


@contextmanager
def syslog_server() -> Iterator[tuple[SyslogServer, Callable[[], bytes]]]:
    """Read one connection to its end; yield the address and a function that returns the bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(HANGS_SECONDS)
        received: list[bytes] = []

        def read() -> None:
            connection, _ = server.accept()
            with connection:
                while data := connection.recv(65536):
                    received.append(data)

        reader = Thread(target=read)
        reader.start()

        def result() -> bytes:
            reader.join(HANGS_SECONDS)
            return b"".join(received)

        yield SyslogServer(*server.getsockname()), result
        reader.join(HANGS_SECONDS)


def test_a_line_is_one_line_of_ascii_whatever_a_name_holds() -> None:
    entry = add("Grün\n\x1b[31m\u2028x")
    line = format_syslog(entry, host="bad host é\n")
    prefix = (
        rf"<110>1 {entry.at:%Y-%m-%dT%H:%M:%S}\.\d{{6}}\+00:00 badhost copilot-admin - audit - "
    )
    assert re.match(prefix, line)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line[line.index("{") :])["subject_name"] == "Grün  [31m x"
    assert format_syslog(entry, host="").split(" ")[2] == "-"


def test_new_entries_go_to_a_syslog_server_once(settings: Any) -> None:
    entries = [add(), add()]
    with syslog_server() as (server, received):
        settings.AUDIT_LOG = server
        assert forward_entries() == 2
        lines = [format_syslog(one, host=socket.gethostname()).encode() for one in entries]
        assert received() == b"".join(b"%d %b" % (len(line), line) for line in lines)
    assert forward_entries() == 0


def test_entries_are_caught_up_after_an_outage(
    settings: Any, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    first = add()
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.AUDIT_LOG = SyslogServer(*server.getsockname())
    assert forward_entries() == 0
    assert [one.levelname for one in caplog.records] == ["WARNING"]
    second = add()
    settings.AUDIT_LOG = "stdout"
    assert forward_entries() == 2
    assert capsys.readouterr().out == f"{format_json(first)}\n{format_json(second)}\n"


def test_a_lease_keeps_other_processes_out_until_it_expires(settings: Any) -> None:
    settings.AUDIT_LOG = "stdout"
    add()
    cursor = AuditCursor.objects.create(
        name=AuditCursorName.FORWARDING, taken_until=timezone.now() + timedelta(seconds=30)
    )
    assert forward_entries() == 0
    cursor.taken_until = timezone.now() - timedelta(seconds=1)
    cursor.save()
    assert forward_entries() == 1


def test_the_newest_hash_is_written_once_an_hour_to_the_log_and_to_a_private_file(
    tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATA_DIR = tmp_path
    caplog.set_level(logging.INFO, "copilot_admin.audit.forwarding")
    assert write_anchor() is None
    entry = add()
    assert write_anchor() == Anchor(1, entry.hash)
    add()
    assert write_anchor() is None  # the last one is younger than an hour
    file = tmp_path / "audit-anchors.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text()) == {"sequence": 1, "hash": entry.hash}
    assert f"entry 1 has the hash {entry.hash}" in caplog.text
    file.write_text(f'{{"sequence": 9, "ha\n{file.read_text()}')
    assert list(read_anchors(file)) == [Anchor(1, entry.hash)]


def test_an_export_is_an_entry_too() -> None:
    entry, out = add(), StringIO()
    call_command("audit", "export", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0] == format_json(entry)
    assert json.loads(lines[1])["action"] == "exported"
    out = StringIO()
    call_command("audit", "export", "--format", "syslog", "--since", "2030-01-01", stdout=out)
    assert out.getvalue() == ""
    call_command("audit", "export", "--format", "syslog", "--since", "2020-01-01", stdout=out)
    assert out.getvalue().count("<110>1 ") == 4
    with pytest.raises(CommandError, match="YYYY-MM-DD"):
        call_command("audit", "export", "--since", "x")
