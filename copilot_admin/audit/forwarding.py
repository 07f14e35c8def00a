"""Entries copied out of the database, and the anchors of the chain.

Destinations are `COPILOT_AUDIT_LOG`, a syslog server and standard output. Entries arrive in order and
at least once: a cursor in the database remembers the last one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
import json
import logging
import os
from pathlib import Path
import socket
import sys

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from copilot_admin.audit.chain import Anchor, get_head, hashed_fields, iterate_batches
from copilot_admin.config.observability import SyslogServer
from copilot_admin.models.audit import AuditCursor, AuditCursorName, AuditEntry
from protocol.json import JsonObject

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=60)  # longer than a batch takes to be sent, or to time out
TIMEOUT_SECONDS = 5.0
ANCHOR_INTERVAL = timedelta(hours=1)
ANCHORS_FILE = "audit-anchors.jsonl"
# RFC 5424: facility 13 ("log audit"), severity 6 ("informational").
SYSLOG_PRIORITY = 13 * 8 + 6


def entry_values(entry: AuditEntry) -> JsonObject:
    """Return all hashed fields of an entry and its hash, so that a collector can check the links."""
    return {**hashed_fields(entry), "hash": entry.hash}


def format_json(entry: AuditEntry) -> str:
    return json.dumps(entry_values(entry), ensure_ascii=True, separators=(",", ":"))


def format_syslog(entry: AuditEntry, *, host: str) -> str:
    """Format an entry as a message of RFC 5424 with the JSON line as its text."""
    name = "".join(one for one in host if "!" <= one <= "~")[:255] or "-"
    time = hashed_fields(entry)["at"]
    return f"<{SYSLOG_PRIORITY}>1 {time} {name} copilot-admin - audit - {format_json(entry)}"


def forward_entries() -> int:
    """Send new entries to `COPILOT_AUDIT_LOG` at least once and in order; return their number."""
    destination = settings.AUDIT_LOG
    if destination is None:
        return 0
    with _lease_cursor(AuditCursorName.FORWARDING) as cursor:
        entries = next(iterate_batches(cursor.sequence), []) if cursor else []
        if cursor is None or not entries:
            return 0
        try:
            _send(entries, destination)
        except OSError as error:
            logger.warning("Can't forward the audit trail to %s: %s. Retrying.", destination, error)
            return 0
        cursor.sequence = entries[-1].sequence
        return len(entries)


def _send(entries: Sequence[AuditEntry], destination: SyslogServer | str) -> None:
    if not isinstance(destination, SyslogServer):
        sys.stdout.write("".join(f"{format_json(one)}\n" for one in entries))
        sys.stdout.flush()
        return
    host = socket.gethostname()
    lines = [format_syslog(one, host=host).encode("ascii") for one in entries]
    address = (destination.host, destination.port)
    with socket.create_connection(address, timeout=TIMEOUT_SECONDS) as connection:
        # Octet counting, RFC 6587: no message runs into the next.
        connection.sendall(b"".join(b"%d %b" % (len(line), line) for line in lines))


def write_anchor() -> Anchor | None:
    """Append the newest hash to the log and to the anchors file, at most once an hour."""
    head = get_head()
    with _lease_cursor(AuditCursorName.ANCHORS) as cursor:
        if cursor is None or head.sequence <= cursor.sequence:
            return None
        last = AuditEntry.objects.filter(pk=cursor.sequence).first()
        if last is not None and timezone.now() - last.at < ANCHOR_INTERVAL:
            return None
        logger.info("Audit trail: entry %d has the hash %s.", head.sequence, head.hash)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        try:
            with os.fdopen(os.open(anchors_path(), flags, 0o600), "a", encoding="ascii") as file:
                file.write(f"{format_anchor(head)}\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            logger.warning("Can't write %s: %s.", anchors_path(), error.strerror)
            return None
        cursor.sequence = head.sequence
        return head


def anchors_path() -> Path:
    """Return the path of the anchors file, which the database can't reach."""
    return Path(settings.DATA_DIR, ANCHORS_FILE)


def format_anchor(anchor: Anchor) -> str:
    return json.dumps({"sequence": anchor.sequence, "hash": anchor.hash})


def read_anchors(file: Path) -> Iterator[Anchor]:
    """Yield the anchors of a file, such as lines of `manage.py audit head`."""
    if not file.exists():
        return
    with file.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            try:
                values = json.loads(line)
                yield Anchor(int(values["sequence"]), str(values["hash"]))
            except (ValueError, KeyError, TypeError):
                continue  # cut off by a full disk


@contextmanager
def _lease_cursor(name: AuditCursorName) -> Iterator[AuditCursor | None]:
    """Yield a cursor, whose position is saved at the end; None if another process has it."""
    AuditCursor.objects.get_or_create(name=name)
    now = timezone.now()
    rows = AuditCursor.objects.filter(name=name)
    free = rows.filter(Q(taken_until=None) | Q(taken_until__lt=now))
    if not free.update(taken_until=now + LEASE):
        yield None
        return
    cursor = rows.get()
    try:
        yield cursor
    finally:
        rows.update(sequence=cursor.sequence, taken_until=None)
