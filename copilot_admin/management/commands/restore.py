"""`manage.py restore FILE`: puts a backup in its place."""

from argparse import ArgumentParser
import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from copilot_admin.audit.chain import get_head
from copilot_admin.audit.forwarding import anchors_path, read_anchors
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.backups.restoring import Restored, restore
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action
from copilot_admin.server.instance_lock import instance_lock


class Command(SanitizedCommand):
    """Puts a backup in its place."""

    help = (
        "Puts a backup in the place of the database and its uploads. Stop servers and workers first. "
        "Nothing is touched before the whole file has been checked."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the file and `--force`."""
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--force", action="store_true", help="replace a database that is not empty"
        )

    def handle(self, *, file: Path, force: bool, **options: Any) -> None:
        """Puts the database of a backup in the place of the one that is there.

        Raises:
            CommandError: It cannot be done; the text says why.
        """
        try:
            with instance_lock():
                self._tell(restore(Path(os.path.realpath(file)), force=force))
        except ConfigurationError as error:
            raise CommandError(error.public) from error

    def _tell(self, done: Restored) -> None:
        """Says what was put back, in the trail as well."""
        self.stdout.write(f"Restored as of {done.made_at}, with {done.uploads} uploads.")
        if done.needs_migrate:
            self.stdout.write(
                "Its tables are of an older release. Run `manage.py migrate`. The audit trail does not "
                "say that it was restored."
            )
        else:
            facts = {"made_at": done.made_at, "uploads": done.uploads}
            for line in _beyond():
                self.stdout.write(line)
            record(Action.PUT_BACK, by=Actor.command(), on=Subject("database"), after=facts)
        for key in done.keys_missing:
            self.stdout.write(
                f"The key {key} is not among COPILOT_ENCRYPTION_KEYS: add it, or enter the secrets that "
                "it sealed anew."
            )


def _beyond() -> list[str]:
    """What to do where anchors name entries that the backup does not have: verifying tells of them."""
    head = get_head().sequence
    try:
        newest = max((one.sequence for one in read_anchors(anchors_path())), default=0)
    except OSError as error:
        said = f"Can't read {anchors_path()}: {error.strerror}."
        return [f"{said} Then look what `audit verify` says."]
    if newest <= head:
        return []
    return [
        f"The audit trail ends with entry {head} now, and an anchor names entry {newest}: `audit verify` "
        f"will say that its end was cut off. Keep {anchors_path()} in another place, as evidence "
        "of what there was; the server begins a new one."
    ]
