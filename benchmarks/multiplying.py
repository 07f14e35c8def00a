"""Makes many conversations of few, in PostgreSQL: as many times over, spread over the same days.

What went through the product's own statements is copied row by row with ids of its own, in the order
of its time, so ids, times and rollups stand as if all of it had been asked. Each copy moves within its
third of the time, because each version answers in one. Texts are the same as many times over.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
import os
from typing import Any

from django.apps import apps
from django.db.models import DateTimeField, Model
import psycopg

from benchmarks.transcripts import DAYS, END
from copilot_admin.transcripts.store.usage import COUNTED

THIRD_HOURS = DAYS // 3 * 24
# The tables of the log; of each how one of its rows finds its conversation, and which ids are new.
LOG = {
    "Conversation": ("id", {"id": "conversation"}),
    "Node": ("conversation_id", {"id": "node", "conversation_id": "conversation", "parent_id": "node"}),
    "Turn": (
        "conversation_id",
        {"id": "turn", "conversation_id": "conversation", "human_node_id": "node"},
    ),
    "TurnText": ("conversation_id", {"turn_id": "turn", "conversation_id": "conversation"}),
    "Run": (
        "conversation_id",
        {
            "id": "run",
            "conversation_id": "conversation",
            "turn_id": "turn",
            "input_leaf_id": "node",
            "output_node_id": "node",
        },
    ),
    "Event": ("(SELECT conversation_id FROM was_run WHERE id = run_id)", {"id": "", "run_id": "run"}),
    "Feedback": ("(SELECT conversation_id FROM was_turn WHERE id = turn_id)", {"id": "", "turn_id": "turn"}),
    "Verdict": (
        "conversation_id",
        {"id": "verdict", "conversation_id": "conversation", "turn_id": "turn"},
    ),
    "Mark": (
        "(SELECT conversation_id FROM was_verdict WHERE id = verdict_id)",
        {"id": "", "verdict_id": "verdict"},
    ),
}  # fmt: skip
# What would be there twice otherwise.
OTHERS = {
    "trace_id": "CASE WHEN row.trace_id = '' OR moved.copy = 0 THEN row.trace_id "
    "ELSE row.trace_id || '-' || moved.copy END",
    **{
        name: f"CASE WHEN moved.copy = 0 THEN row.{name} ELSE md5(row.{name} || moved.copy) END"
        for name in ("chain_hash", "client_hash")
    },
}
NUMBERED = ("conversation", "node", "turn", "verdict")
HOURLY = {
    "HourlyUsage": ("copilot_id", "version", "model"),
    "ErrorUsage": ("copilot_id", "code"),
    "CriterionUsage": ("copilot_id", "criterion_id"),
}
DAILY = {"DailyUsage": ("copilot_id", "version", "model"), "DailyTotal": ("copilot_id", "version")}


def multiply(times: int, *, say: Callable[[str], None]) -> None:
    """Has each conversation as many times as asked."""
    # Not Django's connection: the product's gives no statement minutes.
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # no look at what refers to what
        cursor.execute("SET work_mem = '256MB'")
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute(
            f"CREATE TEMP TABLE copies AS SELECT generate_series(0, {times - 1}) AS copy"
        )
        for name in LOG:
            cursor.execute(f"CREATE TEMP TABLE was_{name.lower()} AS SELECT * FROM {_table(name)}")
            cursor.execute(f"CREATE INDEX ON was_{name.lower()} ({_key(name)})")
        indexes = _without_indexes(cursor)
        cursor.execute(
            "CREATE TEMP TABLE moved AS SELECT id, copy, "
            f"{_moved('first_at', times)} - first_at AS by FROM was_conversation, copies"
        )
        cursor.execute("CREATE INDEX ON moved (id, copy)")
        for name in NUMBERED:
            _number(cursor, name)
        for name in LOG:
            _copy(cursor, name)
            say(f"{name}: {cursor.rowcount}")
        _roll_up(cursor, times)
        for statement in indexes:
            cursor.execute(statement)
            say(statement[:100])
        for name in LOG:
            if name not in ("Run", "TurnText"):
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('{_table(name)}', 'id'), max(id)) "
                    f"FROM {_table(name)}"
                )
        cursor.execute("SET session_replication_role = origin")


def _table(name: str) -> str:
    return _model(name)._meta.db_table


def _model(name: str) -> type[Model]:
    return apps.get_model("copilot_admin", name)


def _key(name: str) -> str:
    return str(_model(name)._meta.pk.column)


def _without_indexes(cursor: Any) -> list[str]:
    """Takes the indexes off that keep no promise, and says how they are made again; empties the log."""
    tables = [_table(name) for name in LOG]
    cursor.execute(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index "
        "WHERE indrelid = ANY(%s::regclass[]) AND NOT indisunique",
        [tables],
    )
    found = cursor.fetchall()
    for name, _statement in found:
        cursor.execute(f"DROP INDEX {name}")
    cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
    return [statement for _name, statement in found]


def _moved(at: str, times: int) -> str:
    """The time of a copy: some hours on, and from the end of its third to its beginning."""
    start = END - timedelta(days=DAYS)
    hours = f"floor(extract(epoch FROM {at} - '{start.isoformat()}'::timestamptz) / 3600)::int"
    third = f"({hours} / {THIRD_HOURS}) * {THIRD_HOURS}"
    on = f"({hours} % {THIRD_HOURS} + copy * {THIRD_HOURS} / {times}) % {THIRD_HOURS}"
    return f"({at} + (({third} + {on}) - {hours}) * interval '1 hour' + copy * interval '1 second')"


def _number(cursor: Any, name: str) -> None:
    """New ids in the order of time; what is asked at once keeps its order."""
    owner = "row.id" if name == "conversation" else "row.conversation_id"
    at = {"conversation": "first_at", "turn": "started_at"}.get(name, "created_at")
    cursor.execute(
        f"CREATE TEMP TABLE new_{name} AS SELECT row.id AS old, copy, "
        f"row_number() OVER (ORDER BY row.{at} + by, copy, row.id) AS id "
        f"FROM was_{name} row JOIN moved ON moved.id = {owner}"
    )
    cursor.execute(f"CREATE INDEX ON new_{name} (old, copy)")
    cursor.execute(f"ANALYZE new_{name}")


def _copy(cursor: Any, name: str) -> None:
    owner, renamed = LOG[name]
    fields = _model(name)._meta.concrete_fields
    columns = [str(one.column) for one in fields]
    wanted, joins = [], []
    for one in fields:
        column = str(one.column)
        kind = renamed.get(column)
        if kind == "":
            wanted.append(f"row_number() OVER (ORDER BY row.{column}, moved.copy)")
        elif kind == "run":
            wanted.append(
                f"CASE WHEN moved.copy = 0 THEN row.{column} "
                f"ELSE md5(row.{column}::text || moved.copy)::uuid END"
            )
        elif kind:
            alias = f"of_{column}"
            joins.append(
                f"LEFT JOIN new_{kind} {alias} ON {alias}.old = row.{column} "
                f"AND {alias}.copy = moved.copy"
            )
            wanted.append(f"{alias}.id")
        elif isinstance(one, DateTimeField):
            wanted.append(f"row.{column} + by")
        else:
            wanted.append(OTHERS.get(column, f"row.{column}"))
    owner = owner if owner.startswith("(") else f"row.{owner}"
    order = "ORDER BY row.started_at + by, moved.copy" if name == "Run" else "ORDER BY 1"
    cursor.execute(
        f"INSERT INTO {_table(name)} ({', '.join(columns)}) SELECT {', '.join(wanted)} "
        f"FROM was_{name.lower()} row JOIN moved ON moved.id = {owner} {' '.join(joins)} {order}"
    )


def _roll_up(cursor: Any, times: int) -> None:
    """The rollups of all copies: those of hours are moved, those of days are sums of them."""
    for name, keys in HOURLY.items():
        numbers = ("number", "total") if name == "CriterionUsage" else ("number",)
        counted = COUNTED if name == "HourlyUsage" else numbers
        cursor.execute(f"CREATE TEMP TABLE was_{name.lower()} AS SELECT * FROM {_table(name)}")
        cursor.execute(f"TRUNCATE {_table(name)}")
        _sum(
            cursor, name, f"was_{name.lower()}, copies",
            f"date_trunc('hour', {_moved('hour', times)})", "hour", keys, counted,
        )  # fmt: skip
    for name, keys in DAILY.items():
        cursor.execute(f"TRUNCATE {_table(name)}")
        hour = "(hour AT TIME ZONE 'UTC')::date"
        _sum(cursor, name, _table("HourlyUsage"), hour, "day", keys, COUNTED)
    callers = _table("CallerDay")
    cursor.execute(f"CREATE TEMP TABLE was_callerday AS SELECT * FROM {callers}")
    cursor.execute(f"TRUNCATE {callers}")
    at = _moved("(day + first_hour * interval '1 hour') AT TIME ZONE 'UTC'", times)
    cursor.execute(
        f"INSERT INTO {callers} (day, copilot_id, principal, first_hour) "
        f"SELECT (at AT TIME ZONE 'UTC')::date, copilot_id, principal, "
        f"min(extract(hour FROM at AT TIME ZONE 'UTC')) FROM (SELECT *, {at} AS at "
        f"FROM was_callerday, copies) moved_on GROUP BY 1, 2, 3"
    )


def _sum(
    cursor: Any,
    name: str,
    source: str,
    at: str,
    column: str,
    keys: Sequence[str],
    counted: Sequence[str],
) -> None:
    sums = ", ".join(f"sum({one})" for one in counted)
    model = ", model" if name == "DailyTotal" else ""
    cursor.execute(
        f"INSERT INTO {_table(name)} ({column}, {', '.join(keys)}{model}, {', '.join(counted)}) "
        f"SELECT {at}, {', '.join(keys)}{', %s' if model else ''}, {sums} FROM {source} "
        f"GROUP BY {at}, {', '.join(keys)}",
        [""] if model else None,  # without parameters a per cent sign stands for itself
    )
