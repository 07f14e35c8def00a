"""What `manage.py privacy` is told: what it is about, and whether to act."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from copilot_admin.models import Copilot
from copilot_admin.models.privacy import MAX_PRINCIPAL_LENGTH
from copilot_admin.privacy.scopes import LAST_DAY, PrivacyScope
from copilot_admin.transcripts.search.users import user_meant

MOST_DIGITS = 18  # of the nineteen that the largest number of a column has


def add_scope(parser: ArgumentParser) -> None:
    """Declares what is meant: a conversation, somebody, a copilot, days."""
    parser.add_argument("--conversation", type=row_number, metavar="ID")
    parser.add_argument(
        "--user", default="", metavar="USER", help="an id, an e-mail address or a name; or id:ID"
    )
    parser.add_argument(
        "--caller",
        default="",
        type=of_at_most(MAX_PRINCIPAL_LENGTH),
        metavar="CALLER",
        help="such as key:7 or anonymous",
    )
    parser.add_argument("--copilot", default="", metavar="SLUG")
    parser.add_argument("--since", type=_day, metavar="DAY", help="active on this day or later")
    parser.add_argument("--until", type=_day, metavar="DAY", help="active on this day or before")


def add_yes(parser: ArgumentParser) -> None:
    """Declares what says whether anything is done."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--yes", action="store_true", help="do it; else it is only counted")
    group.add_argument("--dry-run", action="store_true", help="only count, as without --yes")


def row_number(text: str) -> int:
    """The number of a row, which its column can hold.

    Raises:
        ArgumentTypeError: It is none.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise ArgumentTypeError(f"{text!r} is no number of a row.")
    return int(text)


def of_at_most(most: int) -> Callable[[str], str]:
    """A type of arguments: a text that fits into its column."""

    def text(given: str) -> str:
        if len(given) > most:
            raise ArgumentTypeError(f"Write at most {most} characters, not {len(given)}.")
        return given

    return text


def scope_of(options: dict[str, Any]) -> PrivacyScope:
    """What the options mean.

    Raises:
        CommandError: There is no such copilot, or nobody or several are called that, or the days are the
            wrong way round.
    """
    since, until = options["since"], options["until"]
    if since and until and until < since:
        raise CommandError(f"{until:%Y-%m-%d} is before {since:%Y-%m-%d}. Say --since first.")
    copilot = None
    if options["copilot"]:
        copilot = (
            Copilot.objects.filter(slug=options["copilot"]).values_list("pk", flat=True).first()
        )
        if copilot is None:
            raise CommandError(f"There is no copilot {options['copilot']!r}.")
    try:
        user = user_meant(options["user"]).pk if options["user"] else None
    except ValueError as error:
        raise CommandError(str(error)) from error
    return PrivacyScope(
        conversation=options["conversation"],
        user=user,
        principal=options["caller"],
        copilot=copilot,
        since=since,
        until=until + timedelta(days=1) if until else None,
    )


def _day(text: str) -> datetime:
    """The beginning of a day in the server's time zone.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        found = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007  # a day has no zone
    except ValueError:
        found = date.max
    if found > LAST_DAY:
        raise ArgumentTypeError(f"{text!r} is no day. Write it as 2026-01-31.")
    return datetime.combine(found, time.min, timezone.get_current_timezone())
