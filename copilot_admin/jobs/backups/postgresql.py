"""PostgreSQL into a backup and back, by its own programs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import os
import subprocess
import threading
import time
from typing import IO

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections

from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.backups.archive import ArchiveReader
from copilot_admin.jobs.backups.left_out import LEFT_OUT
from copilot_admin.jobs.backups.manifest import DATABASE
from copilot_admin.jobs.backups.programs import PACKAGE, WHAT_TO_DO, Process, major_of, running

# Owners, rights and comments are those of the cluster it came from.
PLAIN = ("--no-owner", "--no-privileges", "--no-comments")
PLAYER = ("--no-password", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1")
# psql commits with --single-transaction whenever what it reads ends, also in the middle: where pg_restore
# or this process was killed, tables stayed without rows and indexes. So it is told to when all was done.
ALL_IS_DONE = b"all that came before is done"
NOBODY_KNOWS = (
    "It was about to replace the database, and did not say whether it has. Run the command again with "
    "--force when PostgreSQL answers; until then start no server."
)
# In the transaction of the restoring: until that has ended well, all is as it was. Extensions stay:
# to make them may take rights that this role has not.
EMPTY = """
SET lock_timeout = '5s';
SET client_min_messages = warning;
DO $$
DECLARE
  name text;
  routine regprocedure;
BEGIN
  FOR name IN SELECT c.relname FROM pg_class c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
  END LOOP;
  FOR routine IN SELECT p.oid FROM pg_proc p
      WHERE p.pronamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', routine);
  END LOOP;
END $$;
"""
OTHERS = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
LEAVING_SECONDS = 2.0  # what was closed just now is counted for some milliseconds
LOOK_SECONDS = 0.1


def server_major() -> int:
    """The version of the server, as it is named.

    Raises:
        ConfigurationError: PgBouncer stands before it, where its programs have no session.
    """
    if settings.PGBOUNCER:
        raise ConfigurationError(
            "A backup needs PostgreSQL itself: name it in DATABASE_URL, without COPILOT_PGBOUNCER."
        )
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        return int(cursor.fetchone()[0]) // 10_000


@contextmanager
def dump() -> Iterator[IO[bytes]]:
    """What `pg_dump` writes, as it comes: one moment of the database, while servers go on.

    Raises:
        ConfigurationError: It is older than the server, or did not end well.
    """
    program, server = major_of("pg_dump"), server_major()
    if program < server:
        raise ConfigurationError(
            f"pg_dump is of version {program}, the server of version {server}: {PACKAGE}."
        )
    without = (f"--exclude-table-data={name}" for name in LEFT_OUT)
    with running("pg_dump", "--no-password", "--format=custom", *PLAIN, *without) as process:
        yield _pipe(process.stdout)


def restore(backup: ArchiveReader, replacing: Callable[[], object] = lambda: None) -> None:
    """Puts the tables in the place of all that are there, in one transaction.

    pg_restore writes a script for psql: a transaction of its own could not empty the database first.

    Args:
        backup: The backup.
        replacing: Called when nothing is left to do but to commit, which nobody can take back.

    Raises:
        ConfigurationError: Somebody else uses the database, a program is too old, or something did
            not end well; what was there is as it was, unless the words say that nobody knows.
    """
    _check_versions(backup)
    _check_alone()
    commits = threading.Event()
    begin = ("--command=BEGIN", f"--command={EMPTY}")
    with (
        _between_programs() as (read, script),
        running("pg_restore", "--file=-", *PLAIN, reads=subprocess.PIPE, writes=script) as writer,
        running(
            *("psql", *PLAYER, *begin, "--file=-"),
            reads=read,
            what_to_do=lambda: NOBODY_KNOWS if commits.is_set() else WHAT_TO_DO,
        ) as player,
    ):
        read.close()
        with suppress(BrokenPipeError):  # who broke it is told when it is waited for
            target = _pipe(writer.stdin)
            backup.copy(DATABASE, target.write)
            target.close()
        if writer.wait() == 0:
            with suppress(BrokenPipeError):
                _commit(player, script, replacing, commits)
        script.close()


@contextmanager
def _between_programs() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """A pipe from one program to another, into which this process can write as well."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as reading, os.fdopen(write, "wb", buffering=0) as writing:
        yield reading, writing


def _commit(
    player: Process, script: IO[bytes], replacing: Callable[[], object], commits: threading.Event
) -> None:
    """Waits until psql has done all that was written, and lets it commit, which it notes before.

    What is written last makes the indexes: minutes in which all can still be called off.
    """
    script.write(b"SELECT '%s';\n" % ALL_IS_DONE)
    if any(ALL_IS_DONE in line for line in _pipe(player.stdout)):
        replacing()
        commits.set()
        script.write(b"COMMIT;\n")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("the process was started without this pipe")
    return pipe


def _check_versions(backup: ArchiveReader) -> None:
    server, wanted = server_major(), backup.head.server_major
    if server < wanted:
        raise ConfigurationError(
            f"The backup is of PostgreSQL {wanted}, this server is {server}. Restore into {wanted} or "
            "newer."
        )
    for name in ("pg_restore", "psql"):
        if major_of(name) < max(backup.head.dump_major, server):
            raise ConfigurationError(f"{name} is older than the backup or the server: {PACKAGE}.")


def _check_alone() -> None:
    """Refuses to empty a database under servers.

    Raises:
        ConfigurationError: Others are connected.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.close()
    if database.vendor == "postgresql":
        database.close_pool()  # type: ignore[attr-defined]  # it has
    until = time.monotonic() + LEAVING_SECONDS
    while others := _others():
        if time.monotonic() > until:
            raise ConfigurationError(
                f"{others} other connections use the database. Stop servers, workers and PgBouncer first."
            )
        time.sleep(LOOK_SECONDS)


def _others() -> int:
    with running("psql", *PLAYER, "--tuples-only", f"--command={OTHERS}") as process:
        return int(process.communicate()[0])
