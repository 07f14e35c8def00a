"""`manage.py audit`: verify the audit trail, print its newest hash, or export it."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
import re
import socket
from typing import Any

from django.core.management.base import CommandError

from copilot_admin.audit.chain import (
    Anchor,
    get_head,
    iterate_entries,
    verify,
)
from copilot_admin.audit.forwarding import (
    anchors_path,
    format_anchor,
    format_json,
    format_syslog,
    read_anchors,
)
from copilot_admin.management.base import SanitizedCommand, parse_date
from copilot_admin.models import Action, AuditEntry
from copilot_admin.models.audit import HASH_LENGTH

EXIT_BROKEN, EXIT_NOT_VERIFIED = 1, 2
HASH = re.compile(rf"[0-9a-f]{{{HASH_LENGTH}}}")


def parse_hash(text: str) -> str:
    if not HASH.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} is not a hash of {HASH_LENGTH} hexadecimal digits")
    return text


class Command(SanitizedCommand):
    help = "Verify the audit trail, print its newest hash, or export it as lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        check = actions.add_parser("verify", help="name the first broken entry; exit status 1")
        check.add_argument(
            "--expect",
            metavar="HASH",
            type=parse_hash,
            action="append",
            default=[],
            help="a hash noted earlier that must be in the trail; repeatable",
        )
        check.add_argument(
            "--anchors", type=Path, metavar="FILE", help="default: the server's file"
        )
        newest = actions.add_parser("head", help="number and hash of the newest entry, to note")
        export = actions.add_parser("export", help="write entries, oldest first")
        export.add_argument("--format", choices=("jsonl", "syslog"), default="jsonl")
        export.add_argument("--since", type=parse_date, metavar="DATE", help="first day (UTC)")
        for parser, run in ((check, self._verify), (newest, self._head), (export, self._export)):
            parser.set_defaults(run=run)

    def _head(self, **_: Any) -> None:
        self.stdout.write(format_anchor(get_head()))

    def _verify(self, *, expect: list[str], anchors: Path | None, **_: Any) -> None:
        noted = [*_load_anchors(anchors), *(Anchor(0, one) for one in expect)]
        head, broken = verify(noted)
        if broken is not None:
            raise CommandError(str(broken), returncode=EXIT_BROKEN)
        self.stdout.write(
            f"The audit trail is intact: {head.sequence} entries, {len(noted)} anchors found."
        )
        if head.sequence:
            self.stdout.write(f"Newest: {head.hash}")

    def _export(self, *, since: date | None, **options: Any) -> None:
        self.record(Action.EXPORTED, "auditentry", {"format": options["format"], "since": since})
        write = format_json
        if options["format"] == "syslog":
            write = partial(format_syslog, host=socket.gethostname())
        entries = AuditEntry.objects.all()
        if since:
            entries = entries.filter(at__gte=datetime.combine(since, datetime.min.time(), UTC))
        for entry in iterate_entries(of=entries):
            self.stdout.write(write(entry))


def _load_anchors(file: Path | None) -> list[Anchor]:
    path = file or anchors_path()
    try:
        anchors = list(read_anchors(path))
    except OSError as error:
        reason = f"Can't read {path}: {error.strerror}."
        raise CommandError(reason, returncode=EXIT_NOT_VERIFIED) from error
    if file is not None and not anchors:
        raise CommandError(
            f"{file} does not exist or holds no anchor.", returncode=EXIT_NOT_VERIFIED
        )
    return anchors
