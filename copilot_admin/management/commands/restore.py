"""`manage.py restore FILE`: replace database, uploads and spool by those of a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from copilot_admin.audit.chain import get_head
from copilot_admin.audit.forwarding import anchors_path, read_anchors
from copilot_admin.jobs.backup import restore_backup
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action
from copilot_admin.server.database_check import instance_lock


class Command(SanitizedCommand):
    help = (
        "Replace database, uploads and spool by those of a backup. Stop servers and workers first. "
        "The whole file is checked before anything changes."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--force", action="store_true", help="replace a non-empty database")

    def handle(self, *, file: Path, force: bool, **options: Any) -> None:
        with instance_lock():
            done = restore_backup(file.resolve(), force=force)
        self.stdout.write(f"Restored the backup of {done.made_at}.")
        if done.needs_migrate:
            self.stdout.write("It is of an older release: run `manage.py migrate`.")
        else:
            self._warn_about_anchors()
            self.record(Action.PUT_BACK, "database", {"made_at": done.made_at})
        for key in done.missing_keys:
            text = "add it to COPILOT_ENCRYPTION_KEYS, or enter these secrets again."
            self.stdout.write(f"Some secrets need the key {key}: {text}")

    def _warn_about_anchors(self) -> None:
        head = get_head().sequence
        try:
            newest = max((anchor.sequence for anchor in read_anchors(anchors_path())), default=0)
        except OSError as error:
            self.stdout.write(f"Can't read {anchors_path()}: {error.strerror}.")
            return
        if newest > head:
            self.stdout.write(
                f"The audit trail ends with entry {head}, but {anchors_path()} names entry {newest}: "
                "`audit verify` will report entries cut off. Move that file away and keep it as "
                "evidence."
            )
