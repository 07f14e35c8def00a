"""`manage.py secrets rotate`: seals stored secrets under the newest key."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from copilot_admin.audit.chain import derive_key
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.config.encryption import current_key_id, older_key_ids
from copilot_admin.jobs.resealing import Resealing, reseal_all
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action, AuditEntry

SECONDS_OF_A_DAY = 86_400
OF_TRAIL = (
    "But entries of the audit trail were hashed with it, and are checked with nothing else. Before it "
    "goes, set COPILOT_AUDIT_KEYS to the key that hashes now, followed by the old one."
)


class Command(SanitizedCommand):
    """Rotate the keys that seal stored secrets."""

    help = (
        "Seals every stored secret anew under the first of COPILOT_ENCRYPTION_KEYS, and says which of "
        "the others may go. May be stopped and run again; servers go on meanwhile."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare `rotate`."""
        parser.add_subparsers(dest="action", required=True).add_parser("rotate")

    def handle(self, **options: Any) -> None:
        """Encrypt every stored secret anew.

        Raises:
            CommandError: Something does not open.
        """
        done = reseal_all()
        facts = {"sealed": done.sealed, "under": current_key_id(), "stuck": len(done.stuck)}
        record(Action.ROTATED, by=Actor.command(), on=Subject("stored_secrets"), after=facts)
        self.stdout.write(f"{done.sealed} sealed anew under the key {current_key_id()}.")
        for line in (*_of_encryption(done), *_of_signing()):
            self.stdout.write(line)
        if done.stuck:
            raise CommandError("\n".join([*done.stuck, "Enter these anew, or add the key again."]))


def _of_encryption(done: Resealing) -> list[str]:
    lines = [
        f"The key {key} still seals {done.in_use[key]}: keep it."
        if done.in_use[key]
        else f"The key {key} seals nothing any more. It may leave COPILOT_ENCRYPTION_KEYS when every "
        "server and worker runs with the new first key, and no backup is to be restored that needs it."
        for key in older_key_ids()
    ]
    return lines or ["There is no older key."]


def _of_signing() -> list[str]:
    if not settings.SECRET_KEY_FALLBACKS:
        return []
    days = settings.SESSION_COOKIE_AGE // SECONDS_OF_A_DAY
    lines = [
        f"What SECRET_KEY_FALLBACKS signed runs out within {days} days (log-ins; all else within a "
        f"day): it may be emptied {days} days after every server runs with the new SECRET_KEY."
    ]
    return [*lines, OF_TRAIL] if _trail_needs_fallbacks() else lines


def _trail_needs_fallbacks() -> bool:
    """Return whether entries of the audit trail need the fallback keys."""
    fallbacks = {derive_key(str(one)).id for one in settings.SECRET_KEY_FALLBACKS}
    kept = {derive_key(one).id for one in (*settings.AUDIT_KEYS, settings.SECRET_KEY)}
    return AuditEntry.objects.filter(key_id__in=fallbacks - kept).exists()
