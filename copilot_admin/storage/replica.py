"""A read replica of PostgreSQL, for pages that only read: who asks for it gets it, nobody else.

The path of a query never does. A replica that is away, or far behind, is left alone for some seconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
import logging
from time import monotonic
from typing import Any

from django import db
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

logger = logging.getLogger(__name__)

ALIAS = "replica"
APP = "copilot_admin"
LEFT_ALONE_SECONDS = 10.0  # after it failed: each page would wait for it first
MEASURED_FOR_SECONDS = 2.0  # how long a measured delay counts
# A reader expects a question of just now in the list; older than this, the primary is asked.
MOST_DELAY_SECONDS = 10.0
# Of a replica at rest it grows as well. Then the primary has nothing to do either, and may be asked.
DELAY = "SELECT COALESCE(EXTRACT(EPOCH FROM now() - pg_last_xact_replay_timestamp()), 0)"

_reading: ContextVar[bool] = ContextVar("reading_replica", default=False)


class ReplicaRouter:
    """Django's: which database a model is read from and written to."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        """The replica where somebody asked for it; log-ins and sessions are never read from it."""
        return ALIAS if _reading.get() and model._meta.app_label == APP else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        """The primary, also for a row that was read from the replica."""
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Model, second: Model, **hints: Any) -> bool:
        """Always: a row of the replica is a row of the primary."""
        return True

    def allow_migrate(self, database: str, app_label: str, **hints: Any) -> bool:
        """The replica gets its tables from the primary."""
        return database != ALIAS


@contextmanager
def reading_replica() -> Iterator[None]:
    """Within it, models of ours are read from the replica."""
    token = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(token)


def is_read_from_replica() -> bool:
    """Whether models of ours are read from the replica here."""
    return _reading.get()


class Replica:
    """Whether the replica may be asked at the moment."""

    def __init__(self) -> None:
        self._left_alone_until = 0.0
        self._measured_until = 0.0

    def may_be_asked(self) -> bool:
        """Whether there is one that answers and is not far behind."""
        now = monotonic()
        if ALIAS not in settings.DATABASES or now < self._left_alone_until:
            return False
        if now < self._measured_until:
            return True
        try:
            with connections[ALIAS].cursor() as cursor:
                cursor.execute(DELAY)
                delay = float(cursor.fetchone()[0])
        except db.Error:
            self.leave_alone("it does not answer")
            return False
        if delay > MOST_DELAY_SECONDS:
            self._left_alone_until = monotonic() + MEASURED_FOR_SECONDS
            return False
        self._measured_until = monotonic() + MEASURED_FOR_SECONDS
        return True

    def leave_alone(self, why: str) -> None:
        """Asks it nothing for some seconds."""
        logger.warning("The read replica is left alone: %s. The primary is asked instead.", why)
        self._left_alone_until = monotonic() + LEFT_ALONE_SECONDS
        connections[ALIAS].close()


REPLICA = Replica()
