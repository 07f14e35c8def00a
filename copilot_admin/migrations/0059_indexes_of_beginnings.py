"""The indexes go that PostgreSQL has for searches for the beginning of a text: there are none."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# They are no part of the models' state: Django makes one for each text that is unique.
FIND_BEGINNINGS = """
SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()
AND tablename LIKE 'copilot\\_admin\\_%%' AND indexname LIKE '%%\\_like' ORDER BY indexname
"""


def remove_beginnings(apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Removes them beside the questions, each by itself; what was broken off is taken up again."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(FIND_BEGINNINGS, [])
        names = [row[0] for row in cursor.fetchall()]
    for name in names:
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(name)}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("copilot_admin", "0058_indexes_within_others"),
    ]

    operations = [
        migrations.RunPython(remove_beginnings, migrations.RunPython.noop),
    ]
