"""A connection to PostgreSQL that is given up when its server says nothing, or lets nobody at the tables.

A frozen server keeps its sockets open, and the kernel goes on acknowledging what is sent: neither
TCP_USER_TIMEOUT nor keepalives notice, and the server's own time limits stand still with it. So the
client counts.
"""

import threading
import time
from typing import Any

from psycopg import Connection, DatabaseError, OperationalError
from psycopg.abc import RV, PQGen
from psycopg.errors import InFailedSqlTransaction
from psycopg.pq import ConnStatus, TransactionStatus

# A little more than the server gives a statement: it ends what is slow, this what is dead.
ANSWER_SECONDS = 3.2
# Whoever has waited in vain is told soon, also where Django leaves a transaction with a new
# connection: a check of one that works takes a millisecond.
ANSWER_SECONDS_AGAIN = 0.2
# For as long as a request may still take. Threads that live on wait in full again then: over a slow
# way, or on a busy machine, an answer takes longer than that, and there would be none for ever.
AGAIN_SECONDS = 2.0
_SHUT = frozenset({"42501", "42P01", "3F000"})  # no right, no table, no schema
_LOOK_SECONDS = 0.1  # psycopg's own: how often a wait looks up, for Ctrl-C


class _Waited(threading.local):
    """Until when (`monotonic`) this thread is told soon, since it has waited in vain."""

    told_soon_until = 0.0


_waited = _Waited()


class BoundedConnection(Connection[Any]):
    """psycopg's own; each wait for the server has an end, after which the connection is closed.

    Attributes:
        answers_within: Seconds; None: for as long as it takes.
    """

    answers_within: float | None = ANSWER_SECONDS

    def wait(
        self, gen: PQGen[RV], interval: float = _LOOK_SECONDS, timeout: float | None = None
    ) -> RV:
        """Waits for an answer, or a part of one.

        Raises:
            OperationalError: There was none in time, the connection was lost, or the tables of a
                server are not there for it any more.
        """
        try:
            answer = super().wait(gen, interval, self._most() if timeout is None else timeout)
        except OperationalError:
            # Still under way, so its answer may yet come, and would be taken for that of another.
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()
                _note_wait_in_vain()
            raise
        except DatabaseError as error:
            if self.answers_within is not None and error.sqlstate in _SHUT:
                raise _shut(error) from error
            if not self._is_nonsense(error):
                raise
            self.pgconn.finish()
            raise OperationalError("the server talks nonsense, or is gone") from error
        _waited.told_soon_until = 0.0
        return answer

    def commit(self) -> None:
        """Commits, unless a statement of the transaction failed and somebody went on.

        Raises:
            InFailedSqlTransaction: PostgreSQL would undo it all, and answer with a word that nobody reads.
        """
        if self.pgconn.transaction_status == TransactionStatus.INERROR:
            raise InFailedSqlTransaction("a statement failed before: there is nothing to commit")
        super().commit()

    def _is_nonsense(self, error: DatabaseError) -> bool:
        """Whether it is no refusal of the server's, but what its client makes of garbled bytes.

        Those of the server have a code. Of a row that is too short comes a DatabaseError of no
        kind, of a connection that broke under a transaction a ProgrammingError.
        """
        return error.sqlstate is None and (
            type(error) is DatabaseError or self.pgconn.status != ConnStatus.OK
        )

    def _most(self) -> float | None:
        if self.answers_within is not None and time.monotonic() < _waited.told_soon_until:
            return min(self.answers_within, ANSWER_SECONDS_AGAIN)
        return self.answers_within


def _note_wait_in_vain() -> None:
    """Lets what follows be told soon; those waits do not make it longer."""
    now = time.monotonic()
    if now >= _waited.told_soon_until:
        _waited.told_soon_until = now + AGAIN_SECONDS


def _shut(error: DatabaseError) -> OperationalError:
    """An outage with the code of the error: whoever asked did nothing wrong, and is answered when it is mended."""
    outage = OperationalError("the server does not let anybody at its tables")
    outage.sqlstate = error.sqlstate
    return outage
