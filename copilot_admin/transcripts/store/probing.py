"""Find out whether the database takes what the journal writes, with writes that leave nothing behind."""

import os
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import Blob, EventType, Logging, Outcome
from copilot_admin.transcripts.store.finishing import finish
from copilot_admin.transcripts.store.opening import accept, prepare
from copilot_admin.transcripts.store.record import Ending, Entry, Record
from copilot_admin.transcripts.store.sealing import seal
from copilot_admin.transcripts.store.values import Opening
from protocol.models import HumanMessage, Query

_NAME = "probe"  # no hash: no blob has it
SIZE = 64 * 1024  # bytes; as much as a long answer takes


class _Undone(Exception):
    """Ends a transaction of which nothing is to stay."""


def probe() -> None:
    """Writes something as big as an answer and takes it away; the commit needs room for both.

    Raises:
        Error: Of the database, which is still full, locked or away.
    """
    Blob.objects.filter(sha256=_NAME).delete()
    Blob.objects.create(sha256=_NAME, data=os.urandom(SIZE), size=SIZE)
    Blob.objects.filter(sha256=_NAME).delete()


def try_statements() -> None:
    """Writes a question and its answer, with the statements of all others, and undoes it.

    Raises:
        Error: Of the database; what it says of values is of these, which nobody asked.
    """
    try:
        with transaction.atomic():
            opening = _opening()
            accept(prepare(opening))
            finish(seal(_record(), run_id=opening.run_id, at=opening.started_at))
            raise _Undone
    except _Undone:
        return


def _opening() -> Opening:
    run_id = uuid4()
    return Opening(
        run_id=run_id,
        copilot_id=0,  # there is none: who refers to whom is looked at by a commit
        version_id=None,
        version_number=0,
        logging=Logging.EVERYTHING,
        principal=_NAME,
        trace_id=None,
        query=Query(messages=(HumanMessage(_NAME),)),
        size=0,
        provider=_NAME,
        model=_NAME,
        params={},
        started_at=timezone.now(),
        user=AskingUser(id=f"{_NAME} {run_id}"),
    )


def _record() -> Record:
    return Record(
        ending=Ending(outcome=Outcome.FAILED, ms=0, ttft_ms=0, error=_NAME, error_code=_NAME),
        text=_NAME,
        heard=_NAME,
        usages=(Usage(input_tokens=1, output_tokens=1),),
        entries=(Entry(type=EventType.STATUS, payload={}, text_offset=0, at_ms=0),),
    )
