"""Anchors: the newest hash of each hour, in the log and in a file, where the database does not reach.

With an anchor a trail is known that was cut off or made anew, whoever did it.
"""

from collections.abc import Iterator
from datetime import timedelta
import json
import logging
import os
from pathlib import Path
import re
from typing import BinaryIO

from django.conf import settings
from django.utils import timezone

from copilot_admin.audit import cursors
from copilot_admin.audit.verifying import Anchor
from copilot_admin.models.audit import HASH_LENGTH, AuditCursorName, AuditEntry, AuditHead

EVERY = timedelta(hours=1)
FILE = "audit-anchors.jsonl"
OF_HEAD = re.compile(rf"([0-9]{{1,18}}) ([0-9a-f]{{{HASH_LENGTH}}})")

logger = logging.getLogger(__name__)


def anchors_file() -> Path:
    """Where anchors are kept; who reads it cannot change entries with it."""
    folder: Path = settings.DATA_DIR
    return folder / FILE


def drop_anchor() -> Anchor | None:
    """Writes an anchor if the last one is an hour old and the trail is longer by now.

    A disk that takes none is one line in the log, which has the hash. Nobody is let on before the
    lease has run out: so it is tried again once a minute.
    """
    head = AuditHead.objects.filter(pk=AuditHead.THE_ONE).first()
    if head is None or not head.sequence:
        return None
    done = cursors.place(AuditCursorName.ANCHORS)
    if head.sequence <= done or _age_of(done) < EVERY:
        return None
    if cursors.take(AuditCursorName.ANCHORS) != done:
        return None  # another process was faster
    try:
        _write(head)
    except OSError as error:
        logger.warning("%s takes no anchor now: %s.", anchors_file(), error.strerror)
        return None
    cursors.give_back(AuditCursorName.ANCHORS, head.sequence)
    return Anchor(head.sequence, head.hash)


def kept_anchors(file: Path) -> Iterator[Anchor]:
    """The anchors of a file; a line that was not written to its end is none.

    Lines of `manage.py audit head` count as well: whoever keeps those elsewhere appends them.
    """
    if not file.exists():
        return
    with file.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            if anchor := _anchor_in(line):
                yield anchor


def _anchor_in(line: str) -> Anchor | None:
    if noted := OF_HEAD.fullmatch(line.strip()):
        return Anchor(int(noted[1]), noted[2])
    try:
        values = json.loads(line)
        return Anchor(int(values["sequence"]), str(values["hash"]))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _age_of(sequence: int) -> timedelta:
    """How old the entry of the last anchor is; the first one is due at once."""
    entry = AuditEntry.objects.filter(pk=sequence).first()
    return timezone.now() - entry.at if entry else EVERY


def _write(head: AuditHead) -> None:
    logger.info("Audit trail: entry %d has the hash %s.", head.sequence, head.hash)
    line = json.dumps({"sequence": head.sequence, "hash": head.hash})
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    descriptor = os.open(anchors_file(), flags, 0o600)
    with os.fdopen(descriptor, "a+b") as file:
        torn = "\n" if _ends_amid_a_line(file) else ""  # by a disk that was full
        file.write(f"{torn}{line}\n".encode("ascii"))
        file.flush()
        os.fsync(file.fileno())


def _ends_amid_a_line(file: BinaryIO) -> bool:
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"
