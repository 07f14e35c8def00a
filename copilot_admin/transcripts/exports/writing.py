"""One export while a process writes it: batch by batch, each as long as a breath."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
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
from copilot_admin.transcripts.exports.conversations import ExportOptions
from copilot_admin.transcripts.exports.format import About, all_formats
from copilot_admin.transcripts.exports.keeping import (
    ExportProgress,
    advance,
    claim,
    fail,
    keep_part,
)
from copilot_admin.transcripts.exports.selection import read_selection
from copilot_admin.transcripts.exports.walking import ExportWalk, Passed, written

BATCH_SECONDS = 0.2  # then it is stored how far it has come, and the process rests as long
PART_BYTES = 512 * 1024  # of text, in one row
LARGEST = 8 * 1024**3  # bytes of one file
QUICK = 3  # zlib level
DISK_FULL = "53100"  # of PostgreSQL

T = TypeVar("T")
logger = logging.getLogger(__name__)


class WritingStep(StrEnum):
    """What came of a batch of writing an export."""

    MOVED = "moved"
    ENDED = "ended"


class CannotBeWritten(Exception):
    """An export has to end; the text is a sentence for its owner."""


class Writing:
    """Writes an export under a claim.

    Args:
        export_id: Which.
        number: The claim.
    """

    def __init__(self, export_id: int, number: int) -> None:
        self._id, self._claim = export_id, number
        self._export: TranscriptExport | None = None
        self._texts: list[bytes] = []
        self._waiting = 0  # bytes of them

    def batch(self) -> WritingStep:
        """Writes for a moment.

        Raises:
            db.Error: The database is away; who resumes goes on at the last stored place.
            Unavailable: The process is on its way down.
        """
        try:
            return self._batch()
        except (db.Error, Unavailable) as error:
            if not is_full(error):
                raise
            sentence = no_room()
        except CannotBeWritten as error:
            sentence = str(error)
        except Exception:  # a batch's boundary (ADR 1): its page says that it broke
            logger.exception("an export broke")
            sentence = _("The export broke down. Operators find why in the log.")
        _done(partial(fail, self._id, self._claim, sentence))
        return WritingStep.ENDED

    def _batch(self) -> WritingStep:
        if self._export is None and not self._begin():
            return WritingStep.ENDED
        if find_disk_problem():
            raise CannotBeWritten(no_room())
        until = time.monotonic() + BATCH_SECONDS
        for piece in self._pieces:
            if isinstance(piece, str):
                if not self._add(piece):
                    return WritingStep.ENDED
                continue
            self._pass(piece)
            if piece.may_rest and time.monotonic() >= until:
                return WritingStep.MOVED if self._store() else WritingStep.ENDED
        self._end()
        return WritingStep.ENDED

    def _begin(self) -> bool:
        export = _done(partial(claim, self._id, self._claim))
        if export is None:
            return False
        form = all_formats().get(export.format)
        if form is None:
            raise CannotBeWritten(_("This release does not know the format any more."))
        self._export, self._format = export, form
        self._position, self._n_parts, self._size = export.position, export.n_parts, export.size
        self._n_conversations, self._n_turns = export.n_conversations, export.n_turns
        options = ExportOptions(
            with_data=export.with_data,
            with_prompts=export.with_prompts,
            prompts_of=_known_to(export),
        )
        walk = ExportWalk(selection=read_selection(export.query), format=form, options=options)
        self._pieces = self._from_here(export, walk)
        return True

    def _from_here(self, export: TranscriptExport, walk: ExportWalk) -> Iterator[str | Passed]:
        if not export.n_parts:
            yield from walk.format.begin(About(words=export.words, made_at=export.made_at))
        yield from written(walk, export.position)

    def _add(self, text: str) -> bool:
        data = text.encode(errors="replace")
        self._texts.append(data)
        self._waiting += len(data)
        self._size += len(data)
        if self._size > LARGEST:
            raise CannotBeWritten(
                _("The file would have more than %(most)d GB. Choose a narrower filter.")
                % {"most": LARGEST // 1024**3}
            )
        if self._waiting < PART_BYTES:
            return True
        self._n_parts += 1
        order, part = self._n_parts - 1, self._taken()
        return _done(partial(keep_part, self._id, self._claim, order, part))

    def _pass(self, passed: Passed) -> None:
        self._position = passed.position
        if passed.n_turns is not None:
            self._n_conversations += 1
            self._n_turns += passed.n_turns

    def _end(self) -> None:
        for text in self._format.end():
            self._add(text)
        self._store(is_done=True)

    def _store(self, *, is_done: bool = False) -> bool:
        part = self._taken() if self._texts else b""
        self._n_parts += bool(part)
        progress = ExportProgress(
            position=self._position,
            n_parts=self._n_parts,
            n_conversations=self._n_conversations,
            n_turns=self._n_turns,
            size=self._size,
        )
        store = partial(advance, self._id, self._claim, progress, part=part, is_done=is_done)
        return _done(store)

    def _taken(self) -> bytes:
        part = zlib.compress(b"".join(self._texts), QUICK)
        self._texts.clear()
        self._waiting = 0
        return part


def _known_to(export: TranscriptExport) -> frozenset[int] | None:
    if not export.with_prompts or reaches_all(export.owner):
        return None
    return frozenset(reachable(export.owner).values_list("pk", flat=True))


def _done(job: Callable[[], T]) -> T:
    return WRITER.submit(job).result()


def no_room() -> str:
    """That the disk is full, in words."""
    return _(
        "There is too little room on the disk of the server. Tell an operator, then export again."
    )


def is_full(error: BaseException) -> bool:
    cause = error.__cause__
    return (
        getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
        or getattr(cause, "sqlstate", "") == DISK_FULL
    )
