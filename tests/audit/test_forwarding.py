"""Entries go to where the setting says, each at least once and in order; what is away loses nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
import errno
from io import StringIO
import json
import logging
import os
from pathlib import Path
import re
import socket
from threading import Thread
from typing import Any

from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
import pytest

from copilot_admin.audit import anchors, cursors, destinations, forwarding
from copilot_admin.audit.actor import Actor
from copilot_admin.audit.following import batch_after
from copilot_admin.audit.forwarding import Forwarding
from copilot_admin.audit.lines import json_line, syslog_frame, syslog_line
from copilot_admin.audit.recording import record
from copilot_admin.audit.subject import Subject
from copilot_admin.audit.verifying import Anchor
from copilot_admin.config.audit_log import Destination, SyslogServer, destination_in
from copilot_admin.config.env import BadSetting
from copilot_admin.models.audit import Action, AuditCursor, AuditCursorName, AuditEntry
from tests.emptying import without_triggers
from tests.waiting import HANGS_SECONDS

NAME = AuditCursorName.FORWARDING


def add(name: str = "Macro") -> AuditEntry:
    return record(Action.CHANGED, by=Actor.server(), on=Subject("copilot", "1", name))


@contextmanager
def collector() -> Iterator[tuple[SyslogServer, Callable[[], bytes]]]:
    """A server that reads one connection to its end, and gives what came."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(HANGS_SECONDS)
        came: list[bytes] = []

        def read() -> None:
            connection, _ = server.accept()
            with connection:
                while data := connection.recv(65536):
                    came.append(data)

        reader = Thread(target=read)
        reader.start()

        def received() -> bytes:
            reader.join(HANGS_SECONDS)
            return b"".join(came)

        host, port = server.getsockname()
        yield SyslogServer(host, port), received
        reader.join(HANGS_SECONDS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("stdout", "stdout"),
        ("syslog://logs.example", SyslogServer("logs.example", 514)),
        ("syslog://10.0.0.7:6514/", SyslogServer("10.0.0.7", 6514)),
        ("syslog://[::1]:1", SyslogServer("::1", 1)),
    ],
)
def test_a_destination_is_named_by_the_setting(text: str, expected: Destination | None) -> None:
    assert destination_in(text) == expected


@pytest.mark.parametrize(
    "text", ["stderr", "syslog://", "udp://x", "syslog://x:0", "syslog://x:70000", "syslog://x/y"]
)
def test_what_is_no_destination_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match=r"Use stdout or syslog://host:514\."):
        destination_in(text)


@pytest.mark.django_db
def test_a_line_is_one_line_of_ascii_whatever_a_name_holds() -> None:
    entry = add("Grün\n\x1b[31m\u2028x")
    line = syslog_line(entry, host="bad host é\n")
    prefix = (
        rf"<110>1 {entry.at:%Y-%m-%dT%H:%M:%S}\.\d{{6}}\+00:00 badhost copilot-admin - audit - "
    )
    assert re.match(prefix, line)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line[line.index("{") :])["subject_name"] == "Grün  [31m x"
    assert syslog_line(entry, host="").split(" ")[2] == "-"
    assert syslog_frame("ab") == b"2 ab"


@pytest.mark.django_db
def test_new_entries_go_to_a_server_of_syslog_and_none_goes_twice(settings: Any) -> None:
    entries = [add(), add()]
    with collector() as (server, received):
        settings.AUDIT_LOG = server
        going = Forwarding()
        assert going.go_on() == 2
        host = socket.gethostname()
        lines = [syslog_line(one, host=host) for one in entries]
        assert received() == b"".join(map(syslog_frame, lines))
    assert going.go_on() == 0  # the server is gone, and is not asked


@pytest.mark.django_db
def test_a_destination_that_talks_without_an_end_is_listened_to_for_a_moment(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(destinations, "LAST_WORD_SECONDS", 0.05)
    add()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def talk() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):  # until nobody listens
                while True:
                    connection.sendall(b"x" * 1000)

        talking = Thread(target=talk)
        talking.start()
        settings.AUDIT_LOG = SyslogServer(*server.getsockname())
        assert Forwarding().go_on() == 1
        talking.join(HANGS_SECONDS)
        assert not talking.is_alive()


@pytest.mark.django_db
def test_a_destination_that_is_away_is_told_once_and_caught_up(
    settings: Any, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    first = add()
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = SyslogServer(*server.getsockname())
    caplog.set_level(logging.INFO, "copilot_admin.audit.forwarding")
    settings.AUDIT_LOG, going = closed, Forwarding()
    assert (going.go_on(), going.go_on()) == (0, 0)
    second = add()
    settings.AUDIT_LOG = "stdout"
    assert going.go_on() == 2
    assert capsys.readouterr().out == f"{json_line(first)}\n{json_line(second)}\n"
    assert [one.levelname for one in caplog.records] == ["WARNING", "INFO"]
    assert "caught up when COPILOT_AUDIT_LOG answers" in caplog.text


@pytest.mark.django_db
def test_a_round_is_bounded_and_the_next_one_goes_on(
    settings: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forwarding, "AT_ONCE", 2)
    monkeypatch.setattr(forwarding, "MOST_BATCHES", 2)
    settings.AUDIT_LOG = "stdout"
    for _ in range(5):
        add()
    going = Forwarding()
    assert (going.go_on(), going.go_on(), going.go_on()) == (4, 1, 0)
    out = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["sequence"] for line in out] == [1, 2, 3, 4, 5]


@pytest.mark.django_db
def test_while_one_process_forwards_another_waits_unless_that_has_died(settings: Any) -> None:
    settings.AUDIT_LOG = "stdout"
    add()
    assert cursors.take(NAME) == 0
    assert cursors.take(NAME) is None
    assert Forwarding().go_on() == 0
    AuditCursor.objects.filter(name=NAME).update(taken_until=timezone.now())
    assert Forwarding().go_on() == 1
    assert cursors.place(NAME) == 1


@pytest.mark.django_db
def test_without_a_destination_nothing_is_asked(django_assert_num_queries: Any) -> None:
    add()
    with django_assert_num_queries(0):
        assert Forwarding().go_on() == 0


@pytest.mark.django_db
def test_the_newest_hash_is_noted_once_an_hour_in_the_log_and_in_a_file_of_its_owner(
    tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATA_DIR = tmp_path
    caplog.set_level(logging.INFO, "copilot_admin.audit.anchors")
    assert anchors.drop_anchor() is None
    entry = add()
    assert anchors.drop_anchor() == Anchor(1, entry.hash)
    assert anchors.drop_anchor() is None  # nothing is new
    add()
    assert anchors.drop_anchor() is None  # the last one is younger than an hour
    file = tmp_path / "audit-anchors.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text()) == {"sequence": 1, "hash": entry.hash}
    assert f"entry 1 has the hash {entry.hash}" in caplog.text
    assert list(anchors.kept_anchors(file)) == [Anchor(1, entry.hash)]
    assert list(anchors.kept_anchors(tmp_path / "none")) == []


@pytest.mark.django_db
def test_a_disk_that_takes_no_anchor_is_one_line_and_tried_again_after_a_minute(
    tmp_path: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It was a traceback, and the next anchor came after an hour, or never."""
    settings.DATA_DIR, entry = tmp_path, add()
    file = tmp_path / "audit-anchors.jsonl"

    def is_full(*_: object) -> int:
        file.write_text('{"sequence": 1, "ha')
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", is_full)
        assert (anchors.drop_anchor(), anchors.drop_anchor()) == (None, None)
    assert [one.getMessage() for one in caplog.records if one.levelname == "WARNING"] == [
        f"{file} takes no anchor now: No space left on device."
    ]
    assert anchors.drop_anchor() is None
    AuditCursor.objects.update(taken_until=timezone.now() - timedelta(seconds=1))
    assert anchors.drop_anchor() == Anchor(1, entry.hash)
    assert list(anchors.kept_anchors(file)) == [Anchor(1, entry.hash)]


@pytest.mark.django_db
def test_a_trail_that_was_taken_by_a_clock_that_was_set_back_since_is_free() -> None:
    assert (cursors.take(NAME), cursors.take(NAME)) == (0, None)
    AuditCursor.objects.update(taken_until=timezone.now() + timedelta(days=1))
    assert (cursors.take(NAME), cursors.take(NAME)) == (0, None)


@pytest.mark.django_db
def test_of_two_processes_one_notes_the_hash(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    add()
    monkeypatch.setattr(cursors, "take", lambda _name: None)
    assert anchors.drop_anchor() is None


@pytest.mark.django_db
def test_the_trail_is_written_as_lines_and_that_is_an_entry_too() -> None:
    entry, out = add(), StringIO()
    call_command("audit", "export", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0] == json_line(entry)
    assert json.loads(lines[1])["action"] == "exported"
    out = StringIO()
    call_command("audit", "export", "--format", "syslog", "--since", "2030-01-01", stdout=out)
    assert out.getvalue() == ""
    call_command("audit", "export", "--format", "syslog", "--since", "2020-01-01", stdout=out)
    assert out.getvalue().count("<110>1 ") == 4
    with pytest.raises(CommandError, match="'x' is no date"):
        call_command("audit", "export", "--since", "x")


@pytest.mark.django_db
def test_who_follows_gets_what_comes_until_he_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[AuditEntry] = []

    def pause(_seconds: float) -> None:
        if pauses:
            raise KeyboardInterrupt
        pauses.append(add("later"))

    monkeypatch.setattr("copilot_admin.management.commands.audit.time.sleep", pause)
    out = StringIO()
    call_command("audit", "export", "--follow", stdout=out)
    names = [json.loads(line)["subject_name"] for line in out.getvalue().splitlines()]
    assert names == ["", "later"]


@pytest.mark.database
@pytest.mark.django_db
def test_an_entry_that_cannot_be_read_is_forwarded_as_its_number_and_the_rest_goes_on(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.AUDIT_LOG = "stdout"
    for _ in range(3):
        add()
    forever = "infinity" if connection.vendor == "postgresql" else "2026-13-45 00:00:00"
    with connection.cursor() as cursor, without_triggers(cursor):
        cursor.execute("UPDATE copilot_admin_auditentry SET at = %s WHERE sequence = 2", [forever])
    assert (Forwarding().go_on(), cursors.place(NAME)) == (3, 3)
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert second == {"sequence": 2, "action": "unreadable"}
    assert (first["action"], third["action"]) == ("changed", "changed")
    [_, broken, _] = batch_after(0, 9)
    assert syslog_line(broken, host="h").startswith("<110>1 - h copilot-admin - audit - {")
