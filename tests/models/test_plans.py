"""Indexes and query plans of large tables, and JSON that keeps the order of its keys."""

from collections.abc import Callable, Iterator

from django.apps import apps
from django.db import connection, models
from django.db.models import QuerySet
import pytest

from copilot_admin.jobs.blob_sweep import get_unreferenced_blobs
from copilot_admin.models import (
    Assignment,
    Conversation,
    CopilotVersion,
    Node,
    NodeRole,
    Outcome,
    ReviewState,
    Run,
)
from copilot_admin.transcripts.matching import matching
from tests.databases import IS_POSTGRESQL
from tests.factories import make_version

pytestmark = pytest.mark.django_db
# SQLite names the indexes of constraints itself.
NODE_ONCE = "node_once" if IS_POSTGRESQL else "sqlite_autoindex_copilot_admin_node_1"


def plan(rows: QuerySet) -> str:
    """Query plan of a large table, which tests do not have.

    PostgreSQL reads small tables whole and likes to walk along the order: both are ruled out.
    """
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            for way in ("seqscan", "indexscan", "indexonlyscan"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
    return rows.explain()


def scans(text: str) -> bool:
    return "Seq Scan" in text or "SCAN copilot_admin" in text


@pytest.mark.parametrize(
    ("question", "index"),
    [
        (
            lambda: Conversation.objects.filter(trace_id="chat-1").exclude(trace_id=""),
            "conversation_trace",
        ),
        (
            lambda: Node.objects.filter(
                client_hash__in=["a", "b"], role=NodeRole.AI.value
            ).order_by(),
            "node_answer_by_client",
        ),
        (
            lambda: Conversation.objects.filter(last_outcome=Outcome.FAILED).order_by(),
            "conversation_not_completed",
        ),
        (
            lambda: Conversation.objects.filter(review_state=ReviewState.DONE).order_by(),
            "conversation_reviewed",
        ),
        (
            lambda: Assignment.objects.filter(queue_id=1, done_at=None).order_by("id"),
            "seat_not_done",
        ),
        (lambda: Run.objects.filter(copilot_id=1).order_by(), "run_of_copilot"),
        (lambda: Conversation.objects.filter(copilot_id=1).order_by(), "conversation_of_copilot"),
        (lambda: Node.objects.filter(conversation_id=1).order_by(), NODE_ONCE),
    ],
)
def test_rows_are_found_by_their_index(question: Callable[[], QuerySet], index: str) -> None:
    text = plan(question())
    assert index in text
    assert not scans(text)


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (matching._BY_TRACE_WITHOUT_USER, {}, "conversation_trace_once"),
        (matching._BY_TRACE_OF_USER, {"user_id": 7}, "conversation_user_trace_once"),
    ],
)
def test_a_chat_is_found_by_its_trace_id_among_many(statement, values, index) -> None:
    values = {"copilot_id": 1, "principal": "key:1", "trace_id": "chat-1", **values}
    explain = "EXPLAIN" if IS_POSTGRESQL else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        if IS_POSTGRESQL:
            for way in ("seqscan", "bitmapscan"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"{explain} {statement}", values)
        text = str(cursor.fetchall())
    if not IS_POSTGRESQL:  # of a table without rows all indexes cost the same
        assert index in text
    assert not scans(text)


def test_referrers_of_blobs_are_looked_up_and_never_read_whole() -> None:
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_hashjoin = off")
            cursor.execute("SET LOCAL enable_mergejoin = off")
    text = get_unreferenced_blobs().filter(sha256__gt="a", sha256__lte="b").explain()
    for index in ("node_blob", "run_env", "run_widgets", "run_context", "run_tools", "event_blob"):
        assert index in text
    assert not scans(text)


MODELS = list(apps.get_app_config("copilot_admin").get_models())


def columns_of_indexes(model) -> Iterator[tuple[str, ...]]:
    """The columns of all indexes of the whole table, as they follow each other."""
    for field in model._meta.local_concrete_fields:
        if field.unique or field.db_index:
            yield (field.column,)
    listed = [
        *(one.fields for one in model._meta.indexes if not one.condition and not one.opclasses),
        *(
            one.fields
            for one in model._meta.constraints
            if isinstance(one, models.UniqueConstraint) and not one.condition
        ),
    ]
    for fields in filter(None, listed):
        yield tuple(_column(model, name) for name in fields)


def _column(model, name):
    descends = "-" if name.startswith("-") else ""
    return descends + str(model._meta.get_field(name.lstrip("-")).column)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_index_is_the_beginning_of_another(model):
    indexes = list(columns_of_indexes(model))
    beginnings = [
        (narrow, wide)
        for narrow in indexes
        for wide in indexes
        if narrow is not wide and narrow == wide[: len(narrow)]
    ]
    assert beginnings == []


@pytest.mark.postgres
@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has nothing of the kind")
def test_no_index_serves_searches_by_prefix():
    """Django makes one for each unique text; drop it in the migration, as 0002 does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes"
            " WHERE tablename LIKE 'copilot\\_admin\\_%%' AND indexdef LIKE '%%\\_pattern\\_ops%%'",
            [],
        )
        assert cursor.fetchall() == []


@pytest.mark.django_db
@pytest.mark.database
def test_a_document_keeps_the_order_of_its_keys():
    version = make_version()
    document = {"zone": "Rome €", "b": {"y": 1, "x": [0, -1, 2.5, 12345678901234567890]}, "a": None}
    CopilotVersion.objects.filter(pk=version.pk).update(document=document)
    stored = CopilotVersion.objects.get(pk=version.pk).document
    assert (stored, list(stored), list(stored["b"])) == (document, ["zone", "b", "a"], ["y", "x"])
