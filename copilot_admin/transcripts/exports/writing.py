"""Writing of exports: as one text, and in the background in short batches."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
import logging
import time
from typing import NamedTuple, TypeVar
import zlib

from django import db
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import reachable, reaches_all
from copilot_admin.errors import Unavailable
from copilot_admin.models import ExportState, TranscriptExport
from copilot_admin.storage.errors import find_disk_problem
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.exports.formats import FORMATS, ExportFormat
from copilot_admin.transcripts.exports.reading import ExportOptions, read_conversation
from copilot_admin.transcripts.exports.records import (
    Selection,
    claim_export,
    fail_export,
    next_window,
    read_selection,
    store_progress,
)

BATCH_SECONDS = 0.2  # then the progress is stored, and the process sleeps equally long
PART_BYTES = 512 * 1024  # of text, in one row
COMPRESSION_LEVEL = 3
PROGRESS = ("state", "position", "n_parts", "n_conversations", "n_turns", "size")

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Position(NamedTuple):
    """Everything down to this id is written; with the turns of a conversation that ended here."""

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


class ExportWriter:
    def __init__(self, export_id: int, claim: int) -> None:
        self._id, self._claim = export_id, claim
        self._export: TranscriptExport | None = None
        self._pieces: Iterator[str | Position] = iter(())
        self._texts: list[bytes] = []
        self._buffered = 0  # bytes

    def write_batch(self) -> bool:
        """Write for `BATCH_SECONDS`; return whether there is more to write.

        A later batch continues after an error of the database, or when the process is shutting down.
        """
        try:
            if find_disk_problem():
                sentence = _(
                    "There is too little room on the disk of the server. Tell an operator, then "
                    "export again."
                )
            else:
                return self._write_batch()
        except (db.Error, Unavailable):
            raise
        except Exception:  # the boundary of a batch (ADR 1)
            logger.exception("an export broke")
            sentence = _("The export broke down. Operators find why in the log.")
        _run(partial(fail_export, self._id, self._claim, sentence))
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
        export = _run(partial(claim_export, self._id, self._claim))
        if export is None:
            return None
        form = FORMATS[export.format]
        prompts_of = None
        if export.with_prompts and not reaches_all(export.owner):
            prompts_of = frozenset(reachable(export.owner).values_list("pk", flat=True))
        options = ExportOptions(
            with_data=export.with_data, with_prompts=export.with_prompts, prompts_of=prompts_of
        )
        selection = read_selection(export.query)
        self._export = export
        self._pieces = write_conversations(selection, form, options, export.position)
        if not export.n_parts:
            self._pieces = chain([form.begin(export.made_at, export.words)], self._pieces)
        return export

    def _add(self, export: TranscriptExport, text: str) -> bool:
        data = text.encode(errors="replace")
        self._texts.append(data)
        self._buffered += len(data)
        export.size += len(data)
        return self._buffered < PART_BYTES or self._store(export)

    def _store(self, export: TranscriptExport, *names: str) -> bool:
        """Store what is buffered, and columns of the export; return False if the claim is lost."""
        part = b""
        if self._buffered:
            part = zlib.compress(b"".join(self._texts), COMPRESSION_LEVEL)
            self._texts.clear()
            self._buffered = 0
            export.n_parts += 1
        columns = {name: getattr(export, name) for name in names}
        return _run(partial(store_progress, export, self._claim, part, **columns))


def _run(job: Callable[[], T]) -> T:
    return WRITER.submit(job).result()
