"""Create the database objects that Django cannot state: the search index and the audit triggers."""

import logging

from django.db import NotSupportedError, ProgrammingError, migrations, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TEXTS, TRIGRAMS = 'copilot_admin_turntext', 'copilot_admin_turntext_trigrams'
ENTRIES, HEAD = 'copilot_admin_auditentry', 'copilot_admin_audithead'

# `detail=none` stores which texts have a trigram and not where: a third of the size. Matches are
# compared with the text itself.
SQLITE_SEARCH = (
    f"CREATE VIRTUAL TABLE {TRIGRAMS} USING fts5(text, content='{TEXTS}', content_rowid='turn_id', "
    "tokenize='trigram case_sensitive 1', detail=none, columnsize=0)",
    f"CREATE TRIGGER {TRIGRAMS}_insert AFTER INSERT ON {TEXTS} BEGIN "
    f"INSERT INTO {TRIGRAMS}(rowid, text) VALUES (new.turn_id, new.text); END",
    f"CREATE TRIGGER {TRIGRAMS}_delete AFTER DELETE ON {TEXTS} BEGIN "
    f"INSERT INTO {TRIGRAMS}({TRIGRAMS}, rowid, text) VALUES ('delete', old.turn_id, old.text); END",
    f"CREATE TRIGGER {TRIGRAMS}_update AFTER UPDATE OF text ON {TEXTS} BEGIN "
    f"INSERT INTO {TRIGRAMS}({TRIGRAMS}, rowid, text) VALUES ('delete', old.turn_id, old.text); "
    f"INSERT INTO {TRIGRAMS}(rowid, text) VALUES (new.turn_id, new.text); END",
)
POSTGRESQL_SEARCH = (
    f"CREATE INDEX IF NOT EXISTS turn_text_trigrams ON {TEXTS} USING gin (text gin_trgm_ops)"
)
NO_TRIGRAMS = (
    "PostgreSQL does not let this user install the extension pg_trgm, so searches of transcripts "
    "look at the newest conversations only. To search all of them, run as an administrator of the "
    f'database: "CREATE EXTENSION pg_trgm; {POSTGRESQL_SEARCH};"'
)

REFUSAL = 'Entries of the audit trail are neither changed nor deleted.'
FUNCTION = 'copilot_admin_audit_refuse'
NO_STEP = 'NEW.sequence <> OLD.sequence + 1'  # the head of the trail may only advance by one
# A replacing INSERT deletes the old row without calling the triggers of DELETE.
SQLITE_AUDIT = tuple(
    f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} {condition} "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    for table, name, event, condition in (
        (ENTRIES, 'update', 'UPDATE', ''),
        (ENTRIES, 'delete', 'DELETE', ''),
        (ENTRIES, 'replace', 'INSERT',
         f'WHEN EXISTS (SELECT 1 FROM {ENTRIES} WHERE sequence = NEW.sequence)'),
        (HEAD, 'update', 'UPDATE', f'WHEN {NO_STEP}'),
        (HEAD, 'delete', 'DELETE', ''),
        (HEAD, 'replace', 'INSERT', f'WHEN EXISTS (SELECT 1 FROM {HEAD} WHERE id = NEW.id)'),
    )
)
POSTGRESQL_AUDIT = (
    f"CREATE FUNCTION {FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
    *(
        f"CREATE TRIGGER {table}_{name} BEFORE {event} EXECUTE FUNCTION {FUNCTION}()"
        for table, name, event in (
            (ENTRIES, 'kept', f'UPDATE OR DELETE ON {ENTRIES} FOR EACH ROW'),
            (ENTRIES, 'whole', f'TRUNCATE ON {ENTRIES} FOR EACH STATEMENT'),
            (HEAD, 'step', f'UPDATE ON {HEAD} FOR EACH ROW WHEN ({NO_STEP})'),
            (HEAD, 'kept', f'DELETE ON {HEAD} FOR EACH ROW'),
            (HEAD, 'whole', f'TRUNCATE ON {HEAD} FOR EACH STATEMENT'),
        )
    ),
)

# The reasons of a thumb are a list; SQLite has no index of the values in a list.
POSTGRESQL_REASONS = (
    'CREATE INDEX feedback_reasons ON copilot_admin_feedback USING gin (tags jsonb_path_ops)'
)
# Django makes one for each unique text, for searches by prefix; there are none.
PREFIX_INDEXES = r"""
SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()
AND tablename LIKE 'copilot\_admin\_%%' AND indexname LIKE '%%\_like' ORDER BY indexname
"""
logger = logging.getLogger("copilot_admin.migrations")


def create_objects(apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == 'sqlite':
        for statement in SQLITE_SEARCH + SQLITE_AUDIT:
            schema_editor.execute(statement)
        return
    for statement in (*POSTGRESQL_AUDIT, POSTGRESQL_REASONS):
        schema_editor.execute(statement)
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(PREFIX_INDEXES, [])
        names = [name for (name,) in cursor.fetchall()]
    for name in names:
        schema_editor.execute(f'DROP INDEX {schema_editor.quote_name(name)}')
    try:
        with transaction.atomic(schema_editor.connection.alias):
            schema_editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    except (ProgrammingError, NotSupportedError):  # not permitted, or not installed
        logger.warning(NO_TRIGRAMS)
        return
    schema_editor.execute(POSTGRESQL_SEARCH)


# Migrations of development versions. A database has all of them, or none.
REPLACED = (
    '0003_alerts_without_quotes', '0004_limit_rejections', '0005_remove_filling',
    '0006_whole_blobs', '0007_copilot_fallbacks', '0008_provider_options',
    '0009_reported_costs', '0010_provider_checks', '0011_demo_copilots',
    '0012_usage_of_callers_and_tools', '0013_evaluations', '0014_sign_in', '0015_assignments',
    '0016_reroute_approval', '0017_demo_provider',
)


class Migration(migrations.Migration):
    replaces = [('copilot_admin', name) for name in REPLACED]
    dependencies = [('copilot_admin', '0001_initial')]

    operations = [migrations.RunPython(create_objects)]
