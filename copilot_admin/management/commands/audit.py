"""`manage.py audit`: whether the audit trail is whole, its newest hash, and the trail as lines."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import UTC, date, datetime
from datetime import time as clock
from functools import partial
from pathlib import Path
import re
import socket
import time
from typing import Any

from django.core.management.base import CommandError

from copilot_admin.audit.actor import Actor
from copilot_admin.audit.anchors import anchors_file, kept_anchors
from copilot_admin.audit.following import sequence_before, told_after
from copilot_admin.audit.lines import json_line, syslog_line
from copilot_admin.audit.recording import record
from copilot_admin.audit.subject import Subject
from copilot_admin.audit.unreadable import is_unreadable
from copilot_admin.audit.verifying import Anchor, check, head_of_trail
from copilot_admin.management.named_files import named_file
from copilot_admin.management.plain_command import PlainCommand
from copilot_admin.models import Action
from copilot_admin.models.audit import HASH_LENGTH
from copilot_admin.storage.file_faults import told_of_reading

BROKEN, NOT_RUN = 1, 2  # exit statuses
HASH = re.compile(rf"[0-9a-f]{{{HASH_LENGTH}}}")
FOLLOW_SECONDS = 1.0


def hash_in(text: str) -> str:
    """A hash of an entry.

    Raises:
        ArgumentTypeError: It is none.
    """
    if not HASH.fullmatch(text):
        raise ArgumentTypeError(
            f"{text!r} is no hash. Write the {HASH_LENGTH} digits of an anchor."
        )
    return text


def moment(text: str) -> datetime:
    """The beginning of a day in UTC.

    Raises:
        ArgumentTypeError: It is no date.
    """
    try:
        return datetime.combine(date.fromisoformat(text), clock(), tzinfo=UTC)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no date. Write 2030-12-31.") from None


class Command(PlainCommand):
    """Verifies and exports the audit trail."""

    help = "Verifies the audit trail, tells its newest hash, or writes it as lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares `verify`, `head` and `export`."""
        actions = parser.add_subparsers(dest="action", required=True)
        verify = actions.add_parser("verify", help="names the first entry that is broken; exit 1")
        verify.add_argument(
            "--expect",
            metavar="HASH",
            type=hash_in,
            action="append",
            default=[],
            help="a hash that was noted earlier and has to be in the trail; may be repeated",
        )
        verify.add_argument(
            "--anchors",
            type=named_file,
            metavar="FILE",
            help="default: the file that the server writes",
        )
        actions.add_parser("head", help="the newest entry's number and hash, to be noted elsewhere")
        export = actions.add_parser("export", help="writes entries, the oldest first")
        export.add_argument("--format", choices=("jsonl", "syslog"), default="jsonl")
        export.add_argument("--since", type=moment, metavar="DATE", help="first day (UTC)")
        export.add_argument("--follow", action="store_true", help="go on with what is added")

    def handle(self, *, action: str, **options: Any) -> None:
        """Runs the subcommand that was given."""
        match action:
            case "verify":
                self._verify(options["expect"], options["anchors"])
            case "head":
                head = head_of_trail()
                self.stdout.write(f"{head.sequence} {head.hash}")
            case _:
                self._export(options["format"], options["since"], follow=options["follow"])

    def _verify(self, expected: list[str], file: Path | None) -> None:
        anchors = [*_anchors_of(file), *(Anchor(0, one) for one in expected)]
        head, broken = check(anchors)
        if broken is not None:
            raise CommandError(broken.sentence, returncode=BROKEN)
        kept = f" {len(anchors)} anchors are in it." if anchors else ""
        self.stdout.write(f"The audit trail is whole: {head.sequence} entries.{kept}")
        if head.sequence:
            self.stdout.write(f"Newest: {head.hash}")

    def _export(self, form: str, since: datetime | None, *, follow: bool) -> None:
        facts = {"format": form, "since": since, "follow": follow}
        record(Action.EXPORTED, by=Actor.command(), on=Subject("auditentry"), after=facts)
        write = json_line if form == "jsonl" else partial(syslog_line, host=socket.gethostname())
        sequence = sequence_before(since) if since else 0
        unreadable = []
        try:
            for entry in _followed(sequence) if follow else told_after(sequence):
                self.stdout.write(write(entry))
                if is_unreadable(entry):
                    unreadable.append(entry.sequence)
        except KeyboardInterrupt:
            return
        if unreadable:
            raise CommandError(
                f"{len(unreadable)} entries cannot be read, the first of them is {unreadable[0]}: of "
                "these the lines have the number. Look what `audit verify` says.",
                returncode=BROKEN,
            )


def _anchors_of(file: Path | None) -> list[Anchor]:
    """The anchors of a file that somebody names, or of the one that the server writes.

    Raises:
        CommandError: It cannot be read, or the file that is named holds none: that would look as if
            they were found.
    """
    try:
        if file is not None and not file.exists():
            raise CommandError(f"There is no file {file}. Name one that holds anchors.")
        anchors = list(kept_anchors(file or anchors_file()))
    except OSError as error:
        said = told_of_reading(file or anchors_file(), error)
        raise CommandError(said, returncode=NOT_RUN) from error
    if file is not None and not anchors:
        raise CommandError(f"{file} holds no anchor. Name a file that the server wrote.")
    return anchors


def _followed(sequence: int) -> Iterator[Any]:
    """All entries after one, and those that come, until somebody interrupts it."""
    while True:
        for entry in told_after(sequence):
            yield entry
            sequence = entry.sequence
        time.sleep(FOLLOW_SECONDS)
