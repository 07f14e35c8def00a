"""`/healthz` and `/readyz`: is the process alive, and should it get requests."""

from django import db
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from copilot_admin.answering.open_run import is_draining
from copilot_admin.errors import Unavailable
from copilot_admin.storage.writer import READER


async def alive(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "alive"})


async def ready(request: HttpRequest) -> JsonResponse:
    """The database answers, its schema is current, and the server is not on its way down."""
    problem = "draining" if is_draining() else await _database_problem()
    if problem:
        return JsonResponse({"status": "not ready", "reason": problem}, status=503)
    return JsonResponse({"status": "ready"})


async def _database_problem() -> str:
    try:
        return await READER.run(_schema_problem)
    except (db.Error, Unavailable):
        return "the database does not answer"


def _schema_problem() -> str:
    executor = MigrationExecutor(db.connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return "migrations are not applied: run 'python manage.py migrate'"
    return ""
