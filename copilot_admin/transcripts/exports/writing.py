"""Exports: their rows, the conversations that they select, and their writing in short batches.

The process that writes an export holds a claim, a number in its row. A process that takes over
increments it, and later writes of the former holder match no row: two processes never write one file.
An export searches the conversations window by window, so it finds all of them.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, timedelta
from functools import partial
from itertools import chain
import logging
import time
from typing import NamedTuple
from urllib.parse import urlencode
import zlib

from django import db
from django.db.models import Max, Min, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import reachable, reaches_all
from copilot_admin.errors import ConfigurationError, Unavailable
from copilot_admin.models import Conversation, ExportPart, ExportState, TranscriptExport, TurnText
from copilot_admin.storage.errors import find_disk_problem
from copilot_admin.storage.sql import delete_rows
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.exports.formats import FORMATS, ExportFormat
from copilot_admin.transcripts.exports.reading import ExportOptions, is_staying, read_conversation
from copilot_admin.transcripts.filters import FILTERS, PERIODS, label_value
from copilot_admin.transcripts.search.list_query import (
    MAX_QUERY_LENGTH,
    SEARCH_PARAMETER,
    ConversationList,
    normalize_query,
    read_query,
)
from copilot_admin.transcripts.search.text_index import having

WINDOW = 500  # conversations of one statement
RETENTION = timedelta(days=7)
MAX_RUNNING = 3  # exports of one person at a time
MAX_SWEPT = 20  # parts of one batch, some 100 kB each
BATCH_SECONDS = 0.2  # then the progress is stored, and the process sleeps equally long
PART_BYTES = 512 * 1024  # of text, in one row
COMPRESSION_LEVEL = 3
PROGRESS = ("state", "position", "n_parts", "n_conversations", "n_turns", "size")
logger = logging.getLogger(__name__)


def freeze_query(given: Mapping[str, str]) -> str:
    """Return the filters and search of a URL for storage: "the last 7 days" becomes a date."""
    kept = read_query(normalize_query(given))
    if kept.get("days") in PERIODS:
        days = int(kept.pop("days"))
        first = (timezone.now().date() - timedelta(days=days - 1)).isoformat()
        kept["since"] = max(first, kept.get("since", ""))
    return urlencode(kept)


def read_selection(query: str) -> ConversationList:
    return ConversationList(Conversation.objects.filter(is_staying()), read_query(query))


def describe_query(query: str) -> str:
    """Return a stored query as text: `Copilot: desk; Outcome: Failed`."""
    given = read_query(query)
    words = given.get(SEARCH_PARAMETER)
    names = [name for name in FILTERS if given.get(name)]
    filters = [f"{FILTERS[name].label}: {label_value(name, given[name])}" for name in names]
    return "; ".join([f"“{words}”", *filters] if words else filters)


def find_id_range() -> tuple[int, int]:
    found = Conversation.objects.aggregate(lowest=Min("pk"), highest=Max("pk"))
    return found["lowest"] or 0, found["highest"] or 0


def next_window(listed: ConversationList, below: int) -> tuple[Sequence[int], int] | None:
    """Return the selected ids of the next window, newest first, and its lower end; None at the end."""
    newest = Conversation.objects.filter(pk__lt=below).order_by("-pk")
    ids = list(newest.values_list("pk", flat=True)[:WINDOW])
    if not ids:
        return None
    found: set[int] = set()
    if not listed.is_only_named:
        rows = listed.rows.filter(pk__gte=ids[-1], pk__lt=below).order_by()
        found = set(rows.values_list("pk", flat=True))
        if found and listed.query:
            texts = having(TurnText.objects.filter(conversation__in=found), listed.query.phrases)
            found = set(texts.order_by().values_list("conversation_id", flat=True))
    return [pk for pk in ids if pk in found or pk in listed.named], ids[-1]


def begin_export(
    owner_id: int, *, given: dict[str, str], name: str, options: ExportOptions
) -> TranscriptExport:
    """Store a new export; raise ConfigurationError for too many exports or too long filters."""
    running = TranscriptExport.objects.unexpired().filter(owner=owner_id, state=ExportState.RUNNING)
    if running.count() >= MAX_RUNNING:
        sentence = _("You have %(max)d exports in progress. Wait for one to finish, or stop one.")
        raise ConfigurationError(sentence % {"max": MAX_RUNNING})
    query = freeze_query(given)
    if len(query) > MAX_QUERY_LENGTH:
        raise ConfigurationError(_("The filters are too long. Select fewer values."))
    bottom, top = find_id_range()
    now = timezone.now()
    return TranscriptExport.objects.create(
        owner_id=owner_id,
        query=query,
        words=describe_query(query),
        format=name,
        with_data=options.with_data and FORMATS[name].has_data,
        with_prompts=options.with_prompts and FORMATS[name].has_prompts,
        top=top,
        bottom=bottom,
        position=top + 1,
        moved_at=now,
        expires_at=now + RETENTION,
    )


def stop_export(export: TranscriptExport) -> bool:
    """End an export for its owner; return False if it had ended."""
    running = TranscriptExport.objects.filter(pk=export.pk, state=ExportState.RUNNING)
    return bool(running.update(state=ExportState.STOPPED))


def discard_export(export: TranscriptExport) -> None:
    """Remove an export immediately; its parts are swept in short batches."""
    TranscriptExport.objects.filter(pk=export.pk).update(expires_at=timezone.now())
    stop_export(export)


def sweep_exports() -> int:
    """Delete some parts of ended exports, then expired exports; return the number of rows."""
    now = timezone.now()
    ended = TranscriptExport.objects.filter(
        Q(state__in=(ExportState.FAILED, ExportState.STOPPED)) | Q(expires_at__lte=now)
    )
    parts = ExportPart.objects.filter(export__in=ended).order_by()
    pks = list(parts.values_list("pk", flat=True)[:MAX_SWEPT])
    if pks:
        return delete_rows(ExportPart._meta.pk, pks)
    expired = list(ended.filter(expires_at__lte=now).values_list("pk", flat=True)[:MAX_SWEPT])
    return delete_rows(TranscriptExport._meta.pk, expired)


def file_name(export: TranscriptExport) -> str:
    """Return the name of the file, without user input."""
    day = export.made_at.astimezone(UTC).date().isoformat()
    return f"transcripts-{day}-{export.pk}.{export.format}"


async def read_file(export: TranscriptExport) -> AsyncIterator[bytes]:
    """Yield the file part by part; breaks off if it is deleted during the download."""
    parts = ExportPart.objects.filter(export=export).values_list("data", flat=True)
    for order in range(export.n_parts):
        yield zlib.decompress(await parts.aget(ord=order))


class Position(NamedTuple):
    """Everything down to this id is written; with the turns of a conversation that ended here."""

    id: int
    n_turns: int | None = None


def write_conversations(
    listed: ConversationList, form: ExportFormat, options: ExportOptions, below: int
) -> Iterator[str | Position]:
    """Yield the texts of the conversations below an id, and after each its position."""
    while (window := next_window(listed, below)) is not None:
        ids, below = window
        for pk in ids:
            conversation = read_conversation(pk, options)
            if conversation is None or not conversation.tree.places:
                continue
            yield from form.write(conversation)
            n_turns = None if conversation.is_gone else len(conversation.tree.places)
            yield Position(pk, n_turns)
        yield Position(below)


class ExportWriter:
    def __init__(self, export_id: int, claim: int) -> None:
        self._id, self._claim = export_id, claim
        self._export: TranscriptExport | None = None
        self._pieces: Iterator[str | Position] = iter(())
        self._buffer = bytearray()

    def write_batch(self) -> bool:
        """Write for `BATCH_SECONDS`; return whether there is more to write.

        A later batch continues after an error of the database, or when the process is shutting down.
        """
        try:
            if not find_disk_problem():
                return self._write_batch()
            sentence = _(
                "There is too little room on the disk of the server. Tell an operator, then "
                "export again."
            )
        except (db.Error, Unavailable):
            raise
        except Exception:  # the boundary of a batch (ADR 1)
            logger.exception("an export broke")
            sentence = _("The export broke down. Operators find why in the log.")
        fail = partial(self._own().update, state=ExportState.FAILED, error=sentence)
        WRITER.submit(fail).result()  # its parts are swept
        return False

    def _write_batch(self) -> bool:
        export = self._export or self._begin()
        if export is None:
            return False
        until = time.monotonic() + BATCH_SECONDS
        for piece in self._pieces:
            if isinstance(piece, str):
                if not self._add(export, piece):
                    return False
                continue
            export.position = piece.id
            if piece.n_turns is not None:
                export.n_conversations += 1
                export.n_turns += piece.n_turns
            if time.monotonic() >= until:
                return self._store(export, *PROGRESS)
        self._add(export, FORMATS[export.format].end)
        export.state = ExportState.DONE
        self._store(export, *PROGRESS)
        return False

    def _begin(self) -> TranscriptExport | None:
        export = WRITER.submit(self._claim_row).result()
        if export is None:
            return None
        form = FORMATS[export.format]
        options = ExportOptions(with_data=export.with_data, with_prompts=export.with_prompts)
        if export.with_prompts and not reaches_all(export.owner):
            own = frozenset(reachable(export.owner).values_list("pk", flat=True))
            options = replace(options, prompts_of=own)
        listed = read_selection(export.query)
        self._export = export
        self._pieces = write_conversations(listed, form, options, export.position)
        if not export.n_parts:
            self._pieces = chain([form.begin(export.made_at, export.words)], self._pieces)
        return export

    def _own(self) -> QuerySet[TranscriptExport]:
        running = TranscriptExport.objects.unexpired().filter(state=ExportState.RUNNING)
        return running.filter(pk=self._id, claim=self._claim)

    def _claim_row(self) -> TranscriptExport | None:
        """Return the export, without parts of an unfinished conversation; None if it ended."""
        export = self._own().select_for_update().first()
        if export is not None:
            ExportPart.objects.filter(export=export, ord__gte=export.n_parts).delete()
        return export

    def _add(self, export: TranscriptExport, text: str) -> bool:
        data = text.encode(errors="replace")
        self._buffer += data
        export.size += len(data)
        return len(self._buffer) < PART_BYTES or self._store(export)

    def _store(self, export: TranscriptExport, *names: str) -> bool:
        """Store what is buffered, and columns of the export; return False if the claim is lost."""
        part = zlib.compress(self._buffer, COMPRESSION_LEVEL) if self._buffer else b""
        self._buffer.clear()
        export.n_parts += bool(part)
        columns = {name: getattr(export, name) for name in names}

        def store() -> bool:
            if not self._own().update(moved_at=timezone.now(), **columns):
                return False
            if part:
                ExportPart.objects.create(export=export, ord=export.n_parts - 1, data=part)
            return True

        return WRITER.submit(store).result()
