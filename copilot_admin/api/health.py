"""`/healthz` and `/readyz`: is the process alive, and should it get requests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
import logging

from django import db
from django.http import HttpRequest, JsonResponse

from copilot_admin.config.free_space import fault_of_disks
from copilot_admin.errors import Unavailable
from copilot_admin.http.error_pages import logged_already
from copilot_admin.limits.counting import COUNTING
from copilot_admin.runs.open_run import is_draining
from copilot_admin.storage.damage import is_damaged
from copilot_admin.storage.rights import can_only_be_read, fault_of_rights
from copilot_admin.storage.same_file import DATABASE_FILE
from copilot_admin.storage.schema import is_current
from copilot_admin.storage.writer import READER
from copilot_admin.transcripts.store import JOURNAL

logger = logging.getLogger(__name__)

# A thread of its own: those of the loop may have large bodies to read, one behind the other.
_LOOKING = ThreadPoolExecutor(1, thread_name_prefix="free-space")
DAMAGED = "the SQLite database is damaged: stop the server and put a backup in its place"
NOT_MIGRATED = "migrations are not applied: run `manage.py migrate`"
DISKS = "a disk or folder of this server takes nothing: its log says which"
RETRY_AFTER_SECONDS = 5  # as of every other 503; whoever watches asks about as often
RIGHTS = (
    "the role of the database lacks a right, or a table is gone: the log of this server says which"
)
READ_ONLY = "the database can only be read, as a standby"
REPLACED = "the files of the SQLite database were replaced, moved or removed: restart the server"


class _Log:
    """Notes what strangers are not told, once for each change: it is asked for every few seconds."""

    def __init__(self) -> None:
        self._last = ""

    def note(self, fault: str) -> None:
        """Notes what is wrong now; "" where nothing is."""
        if fault and fault != self._last:
            logger.error("this server is not ready: %s", fault)
        self._last = fault


_REASONS, _DISKS, _RIGHTS = _Log(), _Log(), _Log()
_SAID_BETTER = (DAMAGED, DISKS, RIGHTS)  # by a line that names file, folder or table


async def alive(request: HttpRequest) -> JsonResponse:
    """Tells whoever watches that the process answers, whatever else is away."""
    return JsonResponse({"status": "alive"})


async def ready(request: HttpRequest) -> JsonResponse:
    """The database answers and takes writes, its schema is current, and the server goes on."""
    problem = "draining" if is_draining() else await _noted_problem()
    if problem:
        response = JsonResponse({"status": "not ready", "reason": problem}, status=503)
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
        logged_already(response)
        return response
    note = {"note": COUNTING.problem} if COUNTING.problem else {}
    return JsonResponse({"status": "ready", **note})


async def _noted_problem() -> str:
    problem = await _problem()
    _REASONS.note("" if problem in _SAID_BETTER else problem)
    return problem


async def _problem() -> str:
    if DATABASE_FILE.is_replaced:
        return REPLACED
    problem = await _first_problem()
    return DAMAGED if is_damaged() else problem


async def _first_problem() -> str:
    if JOURNAL.problem:
        return JOURNAL.problem
    fault = await asyncio.get_running_loop().run_in_executor(_LOOKING, fault_of_disks)
    _DISKS.note(fault)
    if fault:
        return DISKS
    try:
        return await READER.run(_fault_of_tables)
    except (db.Error, Unavailable):
        return "the database does not answer"


def _fault_of_tables() -> str:
    if not is_current():
        return NOT_MIGRATED
    if can_only_be_read():  # nobody has to be refused before it is known
        return READ_ONLY
    fault = fault_of_rights()
    _RIGHTS.note(fault)
    return RIGHTS if fault else ""
