"""`manage.py secrets rotate`: encrypt stored secrets under the newest key."""

from argparse import ArgumentParser
from math import ceil
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from copilot_admin.audit.chain import derive_key
from copilot_admin.config.encryption import current_key_id, older_key_ids
from copilot_admin.jobs.key_rotation import RotationResult, rotate_keys
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action, AuditEntry

DAY_SECONDS = 86_400
AUDIT_KEYS_HINT = (
    "Entries of the audit trail were hashed with it. Before you remove it, set COPILOT_AUDIT_KEYS to the "
    "current SECRET_KEY, followed by the old one."
)


class Command(SanitizedCommand):
    help = (
        "Encrypt every stored secret under the first of COPILOT_ENCRYPTION_KEYS, and list the keys that "
        "can be removed. It can be interrupted and run again, while servers are running."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_subparsers(dest="action", required=True).add_parser("rotate")

    def handle(self, **options: Any) -> None:
        result = rotate_keys()
        facts = {"rotated": result.rotated, "key": current_key_id(), "errors": len(result.errors)}
        self.record(Action.ROTATED, "stored_secrets", facts)
        self.stdout.write(f"Encrypted {result.rotated} secrets with key {current_key_id()}.")
        for line in (*_describe_encryption_keys(result), *_describe_signing_keys()):
            self.stdout.write(line)
        if result.errors:
            hint = "Enter these secrets again, or add the old key again."
            raise CommandError("\n".join([*result.errors, hint]))


def _describe_encryption_keys(result: RotationResult) -> list[str]:
    lines = [
        f"Keep key {key}: it still encrypts {result.in_use[key]} secrets."
        if result.in_use[key]
        else f"Key {key} is unused. Remove it from COPILOT_ENCRYPTION_KEYS when every server and worker "
        "has the new first key and no backup needs it."
        for key in older_key_ids()
    ]
    return lines or ["There is no older key."]


def _describe_signing_keys() -> list[str]:
    if not settings.SECRET_KEY_FALLBACKS:
        return []
    days = ceil(settings.SESSION_MAX_SECONDS / DAY_SECONDS)
    lines = [
        f"Sessions signed with SECRET_KEY_FALLBACKS expire within {days} days. Empty it {days} days after "
        "every server has the new SECRET_KEY."
    ]
    fallbacks = {derive_key(str(one)).id for one in settings.SECRET_KEY_FALLBACKS}
    kept = {derive_key(one).id for one in (*settings.AUDIT_KEYS, settings.SECRET_KEY)}
    is_needed = AuditEntry.objects.filter(key_id__in=fallbacks - kept).exists()
    return [*lines, AUDIT_KEYS_HINT] if is_needed else lines
