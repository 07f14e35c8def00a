"""`/healthz` and `/readyz`: is the process alive, and should it get requests."""

import logging

from django import db
from django.http import HttpRequest, JsonResponse

from copilot_admin.errors import Unavailable
from copilot_admin.http.errors import skip_request_log
from copilot_admin.limits.counters import LIMIT_REDIS
from copilot_admin.runs.open_run import DRAINING
from copilot_admin.storage.errors import find_disk_problem
from copilot_admin.storage.schema import is_current
from copilot_admin.storage.writer import READER
from copilot_admin.transcripts.store.transcript_store import STORE

NOT_MIGRATED = "migrations are not applied: run `manage.py migrate`"
DISK_FULL = "a disk or folder of this server takes nothing: its log says which"
NO_ANSWER = "the database does not answer"
RETRY_AFTER_SECONDS = 5

_last_problem = ""
logger = logging.getLogger(__name__)


async def alive(request: HttpRequest) -> JsonResponse:
    """Answer whenever the process runs, whatever else is away."""
    return JsonResponse({"status": "alive"})


async def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if the database answers and takes writes, its schema is current and disks have space."""
    problem = "draining" if DRAINING.is_set() else await _find_problem()
    if problem:
        response = JsonResponse({"status": "not ready", "reason": problem}, status=503)
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
        skip_request_log(response)
        return response
    note = {"note": LIMIT_REDIS.problem} if LIMIT_REDIS.problem else {}
    return JsonResponse({"status": "ready", **note})


async def _find_problem() -> str:
    global _last_problem
    problem = details = STORE.problem
    if not problem:
        try:
            problem, details = await READER.run(_check_server)
        except (db.Error, Unavailable):
            problem = details = NO_ANSWER
    if details and details != _last_problem:
        logger.error("this server is not ready: %s", details)
    _last_problem = details
    return problem


def _check_server() -> tuple[str, str]:
    if disk_fault := find_disk_problem():
        return DISK_FULL, disk_fault
    problem = "" if is_current() else NOT_MIGRATED
    return problem, problem
