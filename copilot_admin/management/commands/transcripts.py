"""`manage.py transcripts export`: write the transcripts of a filtered list to a file."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import sys
from typing import Any, BinaryIO

from django.core.management.base import CommandError
from django.utils import timezone

from copilot_admin.audit.recording import hide_personal_filters
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action, Cause, Removal
from copilot_admin.transcripts.exports.formats import FORMATS
from copilot_admin.transcripts.exports.reading import ExportOptions
from copilot_admin.transcripts.exports.writing import (
    Position,
    describe_query,
    find_id_range,
    freeze_query,
    read_selection,
    write_conversations,
)
from copilot_admin.transcripts.filters import FILTERS
from copilot_admin.transcripts.search.list_query import SEARCH_PARAMETER


def parse_filter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if name not in FILTERS or not equals or not value:
        known = ", ".join(FILTERS)
        raise ArgumentTypeError(f"{text!r} is not a filter, use name=value with one of: {known}")
    return name, value


class Command(SanitizedCommand):
    help = "Export transcripts for spreadsheets, fine-tuning, evaluations and readers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        exports = parser.add_subparsers(dest="action", required=True).add_parser(
            "export", help="write the transcripts that the list shows with the same filters"
        )
        exports.add_argument("--format", required=True, choices=list(FORMATS))
        exports.add_argument(
            "--output", required=True, type=Path, metavar="FILE", help="new file, or -"
        )
        exports.add_argument("--copilot", default="", metavar="SLUG")
        exports.add_argument("--since", default="", metavar="DATE", help="first day (UTC)")
        exports.add_argument("--until", default="", metavar="DATE", help="last day (UTC)")
        exports.add_argument("--search", default="", metavar="WORDS", help="as in the list")
        exports.add_argument(
            "--filter",
            dest="filters",
            action="append",
            default=[],
            type=parse_filter,
            metavar="NAME=VALUE",
            help="as in the URL of the list; repeatable",
        )
        exports.add_argument("--with-data", action="store_true", help="include results and charts")
        exports.add_argument("--with-prompts", action="store_true", help="include prompts (jsonl)")

    def handle(self, *, output: Path, **options: Any) -> None:
        named = {name: options[name] for name in ("copilot", "since", "until") if options[name]}
        given = {SEARCH_PARAMETER: options["search"], **dict(options["filters"]), **named}
        query = freeze_query(given)
        selection = read_selection(query)
        for name, errors in selection.filters.errors.items():
            value = selection.filters.data[name]
            raise CommandError(f"The filter {name} can't be {value!r}: {' '.join(errors)}")
        form = FORMATS[options["format"]]
        parts = ExportOptions(with_data=options["with_data"], with_prompts=options["with_prompts"])
        facts = hide_personal_filters(
            {name: given[name] for name in given if name != SEARCH_PARAMETER}
        )
        facts |= {"format": options["format"], "searched_characters": len(options["search"])}
        self.record(Action.EXPORTED, "conversation", facts)
        began_at = timezone.now()
        try:
            with _create_file(output) as file:
                pieces = write_conversations(selection, form, parts, find_id_range()[1] + 1)
                file.write(form.begin(began_at, describe_query(query)).encode())
                conversations, turns = _write(file, pieces)
                file.write(form.end.encode())
                erasures = Removal.objects.filter(cause=Cause.ERASURE, moved_at__gte=began_at)
                if erasures.exists():
                    raise CommandError(
                        "Transcripts were erased during the export, so its file was deleted. Export "
                        "again, and discard what was written to standard output."
                    )
        except OSError as error:
            raise CommandError(f"Can't write {output}: {error.strerror}.") from error
        self.stderr.write(f"Conversations: {conversations}, questions: {turns}")


def _write(file: BinaryIO, pieces: Iterator[str | Position]) -> tuple[int, int]:
    conversations = turns = 0
    for piece in pieces:
        match piece:
            case str():
                file.write(piece.encode(errors="replace"))
            case Position(n_turns=int(number)):
                conversations, turns = conversations + 1, turns + number
    return conversations, turns


@contextmanager
def _create_file(output: Path) -> Iterator[BinaryIO]:
    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # Existing files are not overwritten, and symbolic links not followed.
    descriptor = os.open(output, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException:
        output.unlink(missing_ok=True)
        raise
