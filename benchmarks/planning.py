"""What the planner knows of the tables, told to it as autovacuum does where it is on."""

from django.db import connection

from copilot_admin.config.statement_limits import without_statement_timeout


def analyze(*, vacuum: bool = False) -> None:
    """Counts what the product's tables hold.

    Tables of the server as a whole are left alone: others lock them, and would be waited for.

    Args:
        vacuum: With what PostgreSQL's VACUUM does.
    """
    if connection.vendor != "postgresql":
        _run("ANALYZE")
        return
    names = map(connection.ops.quote_name, connection.introspection.table_names())
    with without_statement_timeout():
        _run(f"{'VACUUM ' if vacuum else ''}ANALYZE {', '.join(names)}")


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
