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


# The migrations before the schema was squashed: a database that has them all has these objects.
REPLACED = (
    '0002_blob_parts', '0003_node_agent', '0004_ordered_payload_and_key_scope', '0005_data_notes',
    '0006_data_seen', '0007_citations_of_documents', '0008_reasoning_and_most_data',
    '0009_tool_calling', '0010_images_for_models', '0011_files_read', '0012_components',
    '0013_component_calls', '0014_other_providers', '0015_images_in_html',
    '0016_deletion_of_copilots', '0017_indexes', '0018_limits_of_client_calls',
    '0019_version_notes', '0020_read_links', '0021_saved_questions', '0022_tags_and_archive',
    '0023_pending_imports', '0024_allowed_origins', '0025_search', '0026_filters',
    '0027_saved_views', '0028_review', '0029_model_prices', '0030_costs_so_far', '0031_rollups',
    '0032_daily_totals', '0033_learning', '0034_replays', '0035_transcript_exports', '0036_users',
    '0037_limits', '0038_members_and_log_ins', '0039_audit_trail', '0040_alerts', '0041_privacy',
    '0042_erased_users', '0043_feedback_once', '0044_late_thumbs',
    '0045_index_of_callers_and_trail', '0046_indexes_of_review', '0048_answers_that_failed',
    '0049_share_of_queues', '0056_origins', '0057_skipped_seats', '0058_indexes_within_others',
    '0059_indexes_of_beginnings',
)


class Migration(migrations.Migration):
    replaces = [('copilot_admin', name) for name in REPLACED]
    dependencies = [('copilot_admin', '0001_initial')]

    operations = [migrations.RunPython(create_objects)]
