"""Looks for words wherever an installation keeps anything: files, tables, their pages, Redis."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
import zlib

import psycopg
from psycopg import sql
import redis

from benchmarks.servers import Installation

_PACKED = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c")  # how zlib begins
_MOST_READ = 10**9  # bytes of a file of PostgreSQL's; no more are in one
_LONGEST = 1 << 20  # bytes of what was packed, and of what it becomes


def is_in(data: bytes, words: Sequence[str]) -> bool:
    """Whether a word is in some bytes, plain or packed."""
    sought = [word.encode() for word in words]
    return any(word in text for text in _texts(data) for word in sought)


def files_with(installed: Installation, words: Sequence[str]) -> list[str]:
    """The files of the data directory: database, spool, uploads, exports, logs."""
    files = (path for path in installed.folder.rglob("*") if path.is_file())
    return [path.name for path in files if is_in(path.read_bytes(), words)]


def tables_with(address: str, words: Sequence[str]) -> list[str]:
    """Tables of PostgreSQL in which a row has a word, whatever its columns."""
    with psycopg.connect(address) as server:
        names = server.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' "
            "AND table_type = 'BASE TABLE'"
        ).fetchall()
        return [str(name) for (name,) in names if _table_has(server, str(name), words)]


def pages_with(address: str, words: Sequence[str]) -> list[str]:
    """Files of PostgreSQL's tables, indexes and long values in which a word is; needs a superuser."""
    with psycopg.connect(address, autocommit=True) as server:
        server.execute("CHECKPOINT")
        names = server.execute(
            "SELECT relname, oid FROM pg_class WHERE relkind IN ('r', 'i', 't') AND NOT relisshared"
        ).fetchall()
        read = "SELECT pg_read_binary_file(pg_relation_filepath(%s::oid), 0, %s, true)"
        found = []
        for name, oid in names:
            (data,) = server.execute(read, (oid, _MOST_READ)).fetchone() or (b"",)
            if data and is_in(bytes(data), words):
                found.append(str(name))
        return found


def kept_in_redis(address: str, words: Sequence[str]) -> list[str]:
    """Names of what Redis has, with a word in the name or the value."""
    server = redis.Redis.from_url(address)
    sought = [word.encode() for word in words]
    keys: Iterable[bytes] = server.scan_iter(count=1000)
    return [
        key.decode(errors="replace")
        for key in keys
        if any(word in key or word in (server.dump(key) or b"") for word in sought)
    ]


def _table_has(server: psycopg.Connection, name: str, words: Sequence[str]) -> bool:
    table = sql.Identifier(name)
    query = sql.SQL("COPY (SELECT t::text FROM {} t) TO STDOUT").format(table)
    with server.cursor().copy(query) as rows:
        found = sum(
            is_in(bytes(row), words) for row in rows
        )  # all are read, or nothing else can be
    if found:
        return True
    columns = server.execute(
        "SELECT column_name FROM information_schema.columns "
        "WHERE table_name = %s AND data_type = 'bytea'",
        (name,),
    ).fetchall()
    for (column,) in columns:
        chosen = sql.SQL("SELECT {} FROM {}").format(sql.Identifier(column), table)
        if any(data and is_in(bytes(data), words) for (data,) in server.execute(chosen)):
            return True
    return False


def _texts(data: bytes) -> Iterator[bytes]:
    yield data
    for start in _PACKED:
        place = data.find(start)
        while place >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(data[place : place + _LONGEST], _LONGEST)
            place = data.find(start, place + 1)
