"""`manage.py privacy`: erase, prune and hold data; acts only with `--yes`."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, time, timedelta
from functools import partial
from math import inf
import time as clock
from typing import Any

from django.core.management.base import CommandError
from django.db import OperationalError, transaction
from django.utils import timezone

from copilot_admin.audit.recording import Actor
from copilot_admin.jobs.removal import begin_erasure, run_removal
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.management.base import SanitizedCommand, parse_date
from copilot_admin.models import Action, Copilot, Removal
from copilot_admin.privacy import holds
from copilot_admin.privacy.erased_data import rewrite_files, truncate_wal
from copilot_admin.privacy.retention import begin_now, get_expired_scope
from copilot_admin.privacy.rows import preview_removal
from copilot_admin.privacy.scopes import (
    LAST_DAY,
    PrivacyScope,
    record_hold,
    record_release,
    record_removal,
)
from copilot_admin.transcripts.end_users import find_user

MAX_TRIES = 20  # a second apart
DRY_RUN = "Dry run: nothing changed. Re-run with --yes to apply."


class Command(SanitizedCommand):
    help = "Erase transcripts, apply retention, and place legal holds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        erase = actions.add_parser("erase", help="erase transcripts for good")
        _add_scope(erase)
        erase.add_argument(
            "--keep-questions", action="store_true", help="keep test cases made from them"
        )
        erase.add_argument("--reason", default="", help="stored with the numbers")
        prune = actions.add_parser("prune", help="apply retention now instead of at night")
        hold = actions.add_parser("hold", help="keep data from being erased or pruned")
        _add_scope(hold)
        hold.add_argument("--reason", default="", help="shown with the hold")
        hold.add_argument("--by", default="manage.py", help="name of the person")
        hold.add_argument("--release", type=int, metavar="HOLD", help="id of a hold to release")
        hold.add_argument("--list", action="store_true", help="list the holds in force")
        clear = actions.add_parser("clear-files", help="rewrite the database's files")
        runs = (self._erase, self._prune, self._hold, self._clear_files)
        for one, run in zip((erase, prune, hold, clear), runs, strict=True):
            one.add_argument("--yes", action="store_true", help="apply; the default is a dry run")
            one.set_defaults(run=run)

    def _erase(self, *, yes: bool, keep_questions: bool, reason: str, **options: Any) -> None:
        scope = _get_scope(options)
        if not scope:
            raise CommandError(
                "Select what to erase with --conversation, --user, --caller, --copilot, --since or "
                "--until."
            )
        self._write_preview(scope)
        if not yes:
            self.stdout.write(DRY_RUN)
            return
        with transaction.atomic():
            removal = begin_erasure(scope, reason=reason, with_questions=not keep_questions)
            record_removal(removal, by=Actor.command())
        self._remove(removal)

    def _prune(self, *, yes: bool, **_: Any) -> None:
        now = timezone.now()
        limited = Copilot.objects.filter(retention_days__isnull=False, deletion_requested_at=None)
        for copilot in limited.order_by("slug"):
            days = copilot.retention_days or 0
            self.stdout.write(f"{copilot.slug}: transcripts are kept for {days} days.")
            scope = get_expired_scope(copilot.pk, days, now)
            self._write_preview(scope, with_exports=False)
            if yes:
                with transaction.atomic():
                    removal = begin_now(copilot.pk, days, now)
                    record_removal(removal, by=Actor.command())
                self._remove(removal)
        if not limited.exists():
            self.stdout.write("No copilot has a retention period.")
        elif not yes:
            self.stdout.write(DRY_RUN)

    def _hold(
        self, *, yes: bool, reason: str, by: str, release: int | None, **options: Any
    ) -> None:
        if options["list"]:
            for hold in holds.in_force():
                placed = f"by {hold.placed_by_name} since {hold.placed_at:%Y-%m-%d}"
                self.stdout.write(f"{hold.pk}: {hold.reason} ({placed})")
        elif release is not None and yes:
            self._release(release, by=by)
        elif release is not None:
            self.stdout.write(DRY_RUN)
        elif not reason:
            raise CommandError("Give a reason with --reason.")
        elif not yes:
            self._write_preview(_get_scope(options), with_exports=False)
            self.stdout.write(DRY_RUN)
        else:
            try:
                with transaction.atomic():
                    hold = holds.place(_get_scope(options), reason=reason, by=by)
                    record_hold(hold, by=Actor.command())
            except ValueError as error:
                raise CommandError(str(error)) from error
            self.stdout.write(f"Placed hold {hold.pk}.")

    def _release(self, hold_id: int, *, by: str) -> None:
        with transaction.atomic():
            if not holds.release(hold_id, by=by):
                raise CommandError(f"Hold {hold_id} is not in force.")
            record_release(hold_id, by=Actor.command())
        self.stdout.write(f"Released hold {hold_id}.")

    def _clear_files(self, *, yes: bool, **_: Any) -> None:
        if not yes:
            self.stdout.write("Locks and rewrites all tables, which needs their space once more.")
            self.stdout.write(DRY_RUN)
            return
        try:
            is_clear = rewrite_files() and _retry(truncate_wal)
        except OperationalError as error:
            raise CommandError(f"A table can't be locked: {error}. Stop the servers.") from error
        if not is_clear:
            raise CommandError(
                "An open transaction, such as a backup, may still read deleted rows. Run this again "
                "when it has ended."
            )
        self.record(Action.CHANGED, "database", {"files": "rewritten"})
        self.stdout.write("The database's files contain no deleted rows.")

    def _remove(self, removal: Removal) -> None:
        run = partial(
            run_removal, removal.pk, lambda job: transaction.atomic(job)(), max_seconds=inf
        )
        if not _retry(lambda: run() is BatchResult.DONE):
            raise CommandError(
                f"Removal {removal.pk} waits for open runs or for readers of the database. The server "
                "continues it."
            )
        removal.refresh_from_db()
        counts = ", ".join(f"{number} {name}" for name, number in sorted(removal.counts.items()))
        self.stdout.write(f"Removed: {counts or 'nothing'}.")

    def _write_preview(self, scope: PrivacyScope, **options: Any) -> None:
        numbers = asdict(preview_removal(scope, **options)).items()
        self.stdout.write(", ".join(f"{name}: {number}" for name, number in numbers))


def _retry(is_done: Callable[[], bool]) -> bool:
    for _ in range(MAX_TRIES):
        if is_done():
            return True
        clock.sleep(1)
    return False


def _add_scope(parser: ArgumentParser) -> None:
    parser.add_argument("--conversation", type=int, metavar="ID")
    parser.add_argument("--user", default="", help="an id, an e-mail address or a name; or id:ID")
    parser.add_argument("--caller", default="", help="such as key:7 or anonymous")
    parser.add_argument("--copilot", default="", metavar="SLUG")
    parser.add_argument("--since", type=_day, metavar="DAY", help="active on this day or later")
    parser.add_argument("--until", type=_day, metavar="DAY", help="active on this day or before")


def _get_scope(options: dict[str, Any]) -> PrivacyScope:
    since, until, slug = options["since"], options["until"], options["copilot"]
    if since and until and until < since:
        raise CommandError(f"--until {until:%Y-%m-%d} is before --since {since:%Y-%m-%d}.")
    copilot = Copilot.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if slug and copilot is None:
        raise CommandError(f"There is no copilot {slug!r}.")
    try:
        user = find_user(options["user"]).pk if options["user"] else None
    except ValueError as error:
        raise CommandError(str(error)) from error
    end = until + timedelta(days=1) if until else None
    ids = {"conversation": options["conversation"], "user": user, "copilot": copilot}
    return PrivacyScope(**ids, principal=options["caller"], since=since, until=end)


def _day(text: str) -> datetime:
    day = parse_date(text)
    if day > LAST_DAY:
        raise ArgumentTypeError(f"{text} is after {LAST_DAY}")
    return datetime.combine(day, time.min, timezone.get_current_timezone())
