"""`manage.py transcripts export`: what the list of transcripts shows, as a file or a stream."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
import os
from pathlib import Path
import sys
from typing import Any, BinaryIO

from django.core.management.base import CommandError
from django.utils import timezone

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import hide_personal_filters, record
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action, Cause, Removal
from copilot_admin.transcripts.exports.conversations import ExportOptions
from copilot_admin.transcripts.exports.format import About, all_formats
from copilot_admin.transcripts.exports.selection import (
    Selection,
    borders,
    frozen_query,
    read_selection,
    words_of,
)
from copilot_admin.transcripts.exports.walking import ExportWalk, Passed, whole
from copilot_admin.transcripts.filters.registry import BY_NAME
from copilot_admin.transcripts.search.saved_views import SEARCHED


def named_value(text: str) -> tuple[str, str]:
    """Parse a filter as `name=value`."""
    name, equals, value = text.partition("=")
    if name not in BY_NAME or not equals or not value:
        known = ", ".join(BY_NAME)
        raise ArgumentTypeError(f"{text!r} is not a filter, use name=value with one of: {known}")
    return name, value


class Command(SanitizedCommand):
    """Export transcripts."""

    help = "Exports transcripts as files for spreadsheets, fine-tuning, evaluations and readers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare `export`."""
        exports = parser.add_subparsers(dest="action", required=True).add_parser(
            "export", help="writes what the list of transcripts shows with the same filters"
        )
        exports.add_argument("--format", required=True, choices=list(all_formats()))
        exports.add_argument(
            "--output",
            required=True,
            type=Path,
            metavar="FILE",
            help="a new file, or - for standard output",
        )
        exports.add_argument("--copilot", default="", metavar="SLUG")
        exports.add_argument("--since", default="", metavar="DATE", help="first day (UTC)")
        exports.add_argument("--until", default="", metavar="DATE", help="last day (UTC)")
        exports.add_argument("--search", default="", metavar="WORDS", help="as the list searches")
        exports.add_argument(
            "--filter",
            dest="filters",
            action="append",
            default=[],
            type=named_value,
            metavar="NAME=VALUE",
            help="as in the address of the list; may be repeated",
        )
        exports.add_argument(
            "--with-data", action="store_true", help="what came back for calls, tables and charts"
        )
        exports.add_argument(
            "--with-prompts", action="store_true", help="system prompts, in chats (jsonl)"
        )

    def handle(self, *, output: Path, **options: Any) -> None:
        """Write the file and report its size on standard error."""
        named = {name: options[name] for name in ("copilot", "since", "until") if options[name]}
        given = {SEARCHED: options["search"], **dict(options["filters"]), **named}
        query = frozen_query(given)
        walk = ExportWalk(
            selection=_selection(query),
            format=all_formats()[options["format"]],
            options=ExportOptions(
                with_data=options["with_data"], with_prompts=options["with_prompts"]
            ),
        )
        facts = hide_personal_filters({name: given[name] for name in given if name != SEARCHED})
        facts |= {"format": options["format"], "searched_characters": len(options["search"])}
        record(Action.EXPORTED, by=Actor.command(), on=Subject("conversation"), after=facts)
        about = About(words=words_of(query), made_at=timezone.now())
        try:
            with _opened(output) as file:
                conversations, turns = _write(file, walk, about)
                _refuse_erased(since=about.made_at)
        except OSError as error:
            raise CommandError(f"cannot write {output}: {error.strerror}") from error
        talks = "conversation" if conversations == 1 else "conversations"
        asked = "question" if turns == 1 else "questions"
        self.stderr.write(f"{conversations} {talks}, {turns} {asked}.")


def _selection(query: str) -> Selection:
    """Return the selection of the filters.

    Raises:
        CommandError: A filter has an unknown value.
    """
    selection = read_selection(query)
    for one in selection.chosen.unknown:
        value = selection.chosen.values[one.name]
        raise CommandError(f"The filter {one.name} does not know {value!r}.")
    return selection


def _write(file: BinaryIO, walk: ExportWalk, about: About) -> tuple[int, int]:
    """Write an export; return the numbers of conversations and questions."""
    conversations = turns = 0
    for piece in whole(walk, about, borders()[1] + 1):
        match piece:
            case str():
                file.write(piece.encode(errors="replace"))
            case Passed(n_turns=int(number)):
                conversations, turns = conversations + 1, turns + number
    return conversations, turns


def _refuse_erased(*, since: datetime) -> None:
    """Fail if transcripts were erased meanwhile: erasure can't reach this file."""
    erasures = Removal.objects.filter(cause=Cause.ERASURE, moved_at__gte=since)
    if erasures.exists():
        raise CommandError(
            "Transcripts were erased while the file was written, so it is deleted. Export again, and "
            "discard what was written to standard output."
        )


@contextmanager
def _opened(output: Path) -> Iterator[BinaryIO]:
    """Open a new private file, deleted if the export fails; `-` is standard output."""
    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # Nobody else's file is written over, nor followed where a link leads.
    descriptor = os.open(output, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    is_whole = False
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        is_whole = True
    finally:
        if not is_whole:
            output.unlink(missing_ok=True)
