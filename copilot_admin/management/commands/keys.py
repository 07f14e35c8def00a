"""`manage.py keys create`: create an API key for a client."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils.text import capfirst

from copilot_admin.audit.recording import snapshot
from copilot_admin.copilots.config_types import bidi_fault
from copilot_admin.management.base import SanitizedCommand, parse_date
from copilot_admin.models import Action, Copilot, EndpointKey


def parse_last_day(text: str) -> datetime:
    """Parse a future date as the end of that day in UTC."""
    try:
        end = datetime.combine(parse_date(text) + timedelta(days=1), time(), tzinfo=UTC)
    except OverflowError:
        raise ArgumentTypeError(f"{text!r} is not a date, use YYYY-MM-DD") from None
    if end <= datetime.now(UTC):
        raise ArgumentTypeError(f"{text} is in the past")
    return end


class Command(SanitizedCommand):
    help = "Create an API key, and write it to standard output, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        create = parser.add_subparsers(dest="action", required=True).add_parser("create")
        create.add_argument("name", help="who uses the key")
        create.add_argument(
            "--copilot",
            dest="slugs",
            metavar="SLUG",
            nargs="+",
            action="extend",
            default=[],
            help="copilots the key may ask; default: all",
        )
        create.add_argument("--expires", metavar="DATE", type=parse_last_day, help="last day (UTC)")

    def handle(self, *, name: str, slugs: list[str], expires: datetime | None, **_: Any) -> None:
        name = name.strip()
        longest = EndpointKey._meta.get_field("name").max_length
        if not name or (longest and len(name) > longest):
            raise CommandError(f"A key needs a name of 1 to {longest} characters.")
        if fault := bidi_fault(name):
            raise CommandError(capfirst(fault))
        copilots = list(Copilot.objects.filter(slug__in=slugs))
        unknown = set(slugs) - {copilot.slug for copilot in copilots}
        if unknown:
            raise CommandError(f"There is no copilot with the slug {', '.join(sorted(unknown))}.")
        with transaction.atomic():
            key, text = EndpointKey.issue(name, expires_at=expires)
            key.limit_to(copilots)
            self.record(Action.ADDED, key, snapshot(EndpointKey.objects.get(pk=key.pk)))
            # Inside the transaction: a key that can't be written to the output isn't created.
            self.stdout.write(text)
            self.stdout.flush()
