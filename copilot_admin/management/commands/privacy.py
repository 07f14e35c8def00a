"""`manage.py privacy`: erases, prunes and holds; says first what would go, and acts with `--yes` alone."""

from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
import time as clock
from typing import Any

from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.utils import timezone

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.jobs import removals, removing
from copilot_admin.jobs.half_pace import at_half_pace
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.management.privacy_options import (
    add_scope,
    add_yes,
    of_at_most,
    row_number,
    scope_of,
)
from copilot_admin.models import Action, Copilot, Removal
from copilot_admin.models.privacy import MAX_NAME_LENGTH, MAX_REASON_LENGTH
from copilot_admin.privacy import holds
from copilot_admin.privacy.counting import Count, count
from copilot_admin.privacy.leftovers import (
    empty_log,
    forget_reasons,
    merge_search_index,
    tables,
    unused_reasons,
    vacuum,
    write_anew,
)
from copilot_admin.privacy.retention import begin_now, scope_of_copilot
from copilot_admin.privacy.spooled import clean_spool
from copilot_admin.privacy.trail import record_hold, record_release, record_removal

TRIES = 20  # of a step for which somebody else has to end first, a second apart
# Seconds between the times at which a table is written anew: each locks it for as long as it is large.
PAUSES = (1, 4, 15)


class Command(SanitizedCommand):
    """Erases conversations, prunes what was kept for long enough, holds what must stay."""

    help = "Erases conversations, prunes what was kept for long enough, and holds what must stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the actions, each with what it is told."""
        actions = parser.add_subparsers(dest="action", required=True)
        erase = actions.add_parser("erase", help="erases what was asked and answered, for good")
        add_scope(erase)
        add_yes(erase)
        erase.add_argument(
            "--keep-questions",
            action="store_true",
            help="saved questions that were made from it stay",
        )
        reason, name = of_at_most(MAX_REASON_LENGTH), of_at_most(MAX_NAME_LENGTH)
        erase.add_argument("--reason", default="", type=reason, help="kept with the counts")
        add_yes(actions.add_parser("prune", help="does at once what is done every night"))
        hold = actions.add_parser("hold", help="keeps something from being erased or pruned")
        add_scope(hold)
        add_yes(hold)
        hold.add_argument("--reason", default="", type=reason, help="for whoever comes upon it")
        hold.add_argument("--by", default="manage.py", type=name, help="who places or releases it")
        hold.add_argument(
            "--release", type=row_number, metavar="HOLD", help="the number of a hold to end"
        )
        hold.add_argument("--list", action="store_true", help="shows the holds in force")
        files = actions.add_parser(
            "clear-files", help="writes the database's files anew, without what is deleted"
        )
        add_yes(files)

    def handle(self, *, action: str, **options: Any) -> None:
        """Run the given action."""
        match action:
            case "erase":
                self._erase(**options)
            case "prune":
                self._prune(**options)
            case "hold":
                self._hold(**options)
            case _:
                self._clear_files(**options)

    def _erase(self, *, yes: bool, keep_questions: bool, reason: str, **options: Any) -> None:
        scope = scope_of(options)
        if not scope:
            raise CommandError(
                "Say what is to be erased: --conversation, --user, --caller, --copilot, --since, "
                "--until."
            )
        self._say(count(scope))
        if not yes:
            self._dry()
            return
        with transaction.atomic():
            removal = removals.begin(scope, reason=reason, with_questions=not keep_questions)
            record_removal(removal, by=Actor.command())
        self._remove(removal)

    def _prune(self, *, yes: bool, **_: Any) -> None:
        now = timezone.now()
        limited = Copilot.objects.filter(retention_days__isnull=False, deletion_requested_at=None)
        for copilot in limited.order_by("slug"):
            days = copilot.retention_days or 0
            self.stdout.write(f"{copilot.slug}: kept for {days} days.")
            self._say(count(scope_of_copilot(copilot.pk, days, now), with_exports=False))
            if yes:
                with transaction.atomic():
                    removal = begin_now(copilot.pk, days, now)
                    record_removal(removal, by=Actor.command())
                self._remove(removal)
        if not limited.exists():
            self.stdout.write("No copilot says for how long its transcripts are kept.")
        elif not yes:
            self._dry()

    def _hold(
        self, *, yes: bool, reason: str, by: str, release: int | None, **options: Any
    ) -> None:
        if options["list"]:
            for hold in holds.in_force():
                who = f"by {hold.placed_by_name} since {hold.placed_at:%Y-%m-%d}"
                self.stdout.write(f"{hold.pk}: {hold.reason} ({who})")
            return
        if release is not None:
            if not yes:
                self._dry()
            elif _released(release, by=by):
                self.stdout.write(f"Hold {release} is released.")
            else:
                raise CommandError(f"No hold {release} is in force.")
            return
        if not reason:
            raise CommandError("Say why with --reason: whoever comes upon the hold wants to know.")
        scope = scope_of(options)
        if not yes:
            self._say(count(scope, with_exports=False))
            self._dry()
            return
        try:
            with transaction.atomic():
                hold = holds.place(scope, reason=reason, by=by)
                record_hold(hold, by=Actor.command())
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Hold {hold.pk} is in force.")

    def _clear_files(self, *, yes: bool, **_: Any) -> None:
        if not yes:
            self.stdout.write(
                "Writes every table anew. Nobody can read or write meanwhile, and it takes as much "
                "room again on the disk."
            )
            self._dry()
            return
        if not _written_anew() or not _until(empty_log):
            raise CommandError(
                "Somebody has read or written the database for long (a backup, an open transaction), "
                "so its files still have what is deleted. Call it again when that has ended."
            )
        facts = {"files": "written anew"}
        record(Action.CHANGED, by=Actor.command(), on=Subject("database"), after=facts)
        self.stdout.write("The database's files hold nothing that is deleted.")

    def _remove(self, removal: Removal) -> None:
        """Removes in short batches, so that a running server goes on."""
        batch = partial(_batch, removal.pk)
        while (step := at_half_pace(batch)) is not removing.RemovalStep.LAST:
            if step is removing.RemovalStep.GONE:
                break
            if step is removing.RemovalStep.WAITING and not _until(lambda: _moves(removal.pk)):
                raise CommandError(
                    f"Removal {removal.pk} waits for answers that still run. The server goes on with it."
                )
        first = True
        while not at_half_pace(partial(_merged, first=first)):
            first = False
        forget_reasons(unused_reasons())
        if removals.forget_who(removal.pk):
            vacuum()
        clean_spool()
        if not _until(empty_log):
            raise CommandError("Somebody reads the database for long. The server tries it again.")
        removals.finish(removal.pk)
        removal.refresh_from_db()
        gone = ", ".join(f"{number} {name}" for name, number in sorted(removal.counts.items()))
        self.stdout.write(f"Removed: {gone or 'nothing'}.")

    def _say(self, found: Count) -> None:
        self.stdout.write(
            f"{found.conversations} conversations with {found.turns} questions, {found.messages} "
            f"messages, {found.votes} thumbs and {found.verdicts} verdicts; {found.requests} "
            f"requests, {found.calls} calls of components, {found.questions} saved questions made "
            f"from them, {found.users} users themselves. {found.exports} exports may have them. {found.running} are being answered. "
            f"{found.held} conversations are held and stay."
        )

    def _dry(self) -> None:
        self.stdout.write("Nothing was done. Say --yes to do it.")


@transaction.atomic
def _released(hold_id: int, *, by: str) -> bool:
    was_in_force = holds.release(hold_id, by=by)
    if was_in_force:
        record_release(hold_id, by=Actor.command())
    return was_in_force


def _batch(removal_id: int) -> removing.RemovalStep:
    """A batch; done once more if a question has referred to one of its contents meanwhile."""
    with suppress(IntegrityError), transaction.atomic():
        return removing.remove_batch(removal_id)
    return removing.RemovalStep.WAITING


def _moves(removal_id: int) -> bool:
    return _batch(removal_id) is not removing.RemovalStep.WAITING


def _merged(*, first: bool) -> bool:
    with transaction.atomic():
        return merge_search_index(first=first)


def _written_anew() -> bool:
    left = write_anew(tables())
    for pause in PAUSES:
        if not left:
            break
        clock.sleep(pause)
        left = write_anew(left)
    return not left


def _until(is_done: Callable[[], bool]) -> bool:
    for _ in range(TRIES):
        if is_done():
            return True
        clock.sleep(1)
    return False
