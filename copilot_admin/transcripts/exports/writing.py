"""Writing of exports: as one text, and in the background in short batches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
import logging
import sqlite3
import time
from typing import TypeVar
import zlib

from django import db
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import reachable, reaches_all
from copilot_admin.errors import Unavailable
from copilot_admin.models import TranscriptExport
from copilot_admin.storage.errors import find_disk_problem
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.exports.formats import FORMATS, ExportFormat
from copilot_admin.transcripts.exports.reading import ExportOptions, read_conversation
from copilot_admin.transcripts.exports.records import (
    claim_export,
    fail_export,
    store_part,
    store_progress,
)
from copilot_admin.transcripts.exports.selection import Selection, next_window, read_selection

BATCH_SECONDS = 0.2  # then the progress is stored, and the process sleeps equally long
PART_BYTES = 512 * 1024  # of text, in one row
MAX_BYTES = 8 * 1024**3  # of one file
COMPRESSION_LEVEL = 3
DISK_FULL = "53100"  # SQLSTATE

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Position:
    """Position of an export: everything down to this id is written.

    Attributes:
        n_turns: Of the conversation that ended here; None if no conversation did.
    """

    id: int
    n_turns: int | None = None


def write_conversations(
    selection: Selection, form: ExportFormat, options: ExportOptions, below: int
) -> Iterator[str | Position]:
    """Yield the texts of the conversations below an id, and after each its position."""
    while (window := next_window(selection, below)) is not None:
        ids, below = window
        for pk in ids:
            conversation = read_conversation(pk, options)
            if conversation is None or not conversation.tree.places:
                continue
            yield from form.write(conversation)
            n_turns = None if conversation.is_gone else len(conversation.tree.places)
            yield Position(pk, n_turns)
        yield Position(below)


class BatchOutcome(StrEnum):
    """The outcome of a batch."""

    MOVED = "moved"
    ENDED = "ended"


class ExportError(Exception):
    """An export can't continue; the text is a sentence for its owner."""


class ExportWriter:
    """Writes an export under a claim."""

    def __init__(self, export_id: int, claim: int) -> None:
        self._id, self._claim = export_id, claim
        self._export: TranscriptExport | None = None
        self._pieces: Iterator[str | Position] = iter(())
        self._texts: list[bytes] = []
        self._buffered = 0  # bytes

    def write_batch(self) -> BatchOutcome:
        """Write for `BATCH_SECONDS`.

        Raises:
            db.Error: The database is unavailable; a later batch continues at the stored position.
            Unavailable: The process is shutting down.
        """
        try:
            return self._write_batch()
        except (db.Error, Unavailable) as error:
            if not _is_disk_full(error):
                raise
            sentence = _disk_full_sentence()
        except ExportError as error:
            sentence = str(error)
        except Exception:  # the boundary of a batch (ADR 1)
            logger.exception("an export broke")
            sentence = _("The export broke down. Operators find why in the log.")
        _run(partial(fail_export, self._id, self._claim, sentence))
        return BatchOutcome.ENDED

    def _write_batch(self) -> BatchOutcome:
        export = self._export or self._begin()
        if export is None:
            return BatchOutcome.ENDED
        if find_disk_problem():
            raise ExportError(_disk_full_sentence())
        until = time.monotonic() + BATCH_SECONDS
        for piece in self._pieces:
            if isinstance(piece, str):
                if not self._add(export, piece):
                    return BatchOutcome.ENDED
                continue
            export.position = piece.id
            if piece.n_turns is not None:
                export.n_conversations += 1
                export.n_turns += piece.n_turns
            if time.monotonic() >= until:
                is_stored = self._store(export, is_done=False)
                return BatchOutcome.MOVED if is_stored else BatchOutcome.ENDED
        self._add(export, self._format.end)
        self._store(export, is_done=True)
        return BatchOutcome.ENDED

    def _begin(self) -> TranscriptExport | None:
        export = _run(partial(claim_export, self._id, self._claim))
        if export is None:
            return None
        form = FORMATS.get(export.format)
        if form is None:
            raise ExportError(_("This release does not know the format any more."))
        options = ExportOptions(
            with_data=export.with_data,
            with_prompts=export.with_prompts,
            prompts_of=_readable_prompts(export),
        )
        selection = read_selection(export.query)
        self._export, self._format = export, form
        self._pieces = write_conversations(selection, form, options, export.position)
        if not export.n_parts:
            self._pieces = chain([form.begin(export.made_at, export.words)], self._pieces)
        return export

    def _add(self, export: TranscriptExport, text: str) -> bool:
        data = text.encode(errors="replace")
        self._texts.append(data)
        self._buffered += len(data)
        export.size += len(data)
        if export.size > MAX_BYTES:
            raise ExportError(
                _("The file would have more than %(most)d GB. Choose a narrower filter.")
                % {"most": MAX_BYTES // 1024**3}
            )
        if self._buffered < PART_BYTES:
            return True
        export.n_parts += 1
        part = self._pop_part()
        return _run(partial(store_part, self._id, self._claim, export.n_parts - 1, part))

    def _store(self, export: TranscriptExport, *, is_done: bool) -> bool:
        part = self._pop_part() if self._buffered else b""
        export.n_parts += bool(part)
        return _run(partial(store_progress, export, self._claim, part, is_done=is_done))

    def _pop_part(self) -> bytes:
        part = zlib.compress(b"".join(self._texts), COMPRESSION_LEVEL)
        self._texts.clear()
        self._buffered = 0
        return part


def _readable_prompts(export: TranscriptExport) -> frozenset[int] | None:
    if not export.with_prompts or reaches_all(export.owner):
        return None
    return frozenset(reachable(export.owner).values_list("pk", flat=True))


def _run(job: Callable[[], T]) -> T:
    return WRITER.submit(job).result()


def _disk_full_sentence() -> str:
    return _(
        "There is too little room on the disk of the server. Tell an operator, then export again."
    )


def _is_disk_full(error: BaseException) -> bool:
    cause = error.__cause__
    return (
        getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
        or getattr(cause, "sqlstate", "") == DISK_FULL
    )
