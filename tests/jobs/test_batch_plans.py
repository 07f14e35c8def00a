"""What is done in short batches walks along indexes: a table of millions makes no batch long."""

from collections.abc import Callable, Iterator, Set
from datetime import timedelta
import re
from typing import Any

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
import pytest

from copilot_admin import models
from copilot_admin.jobs.blob_sweep import Sweep, sweep_batch
from copilot_admin.jobs.deletion import delete_batch, mark_for_deletion
from copilot_admin.jobs.removal import begin_erasure, remove_batch
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.privacy.scopes import PrivacyScope
from tests.databases import forget_sizes
from tests.factories import make_version
from tests.jobs.test_deletion import fill
from tests.transcripts.store.journaling import START

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="asks its planner"),
]
OTHER_WAYS = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_material")
SCANS = ("Seq Scan", "Index Scan", "Index Only Scan")
# They grow with each question.
GROWING = tuple(
    model._meta.db_table
    for model in (
        models.Blob, models.BlobPart, models.Conversation, models.Event, models.Feedback, models.Node,
        models.Run, models.Turn, models.TurnText, models.ComponentCall, models.Checkpoint,
    )
)  # fmt: skip


@pytest.fixture(autouse=True)
def _sizes_are_unknown() -> None:
    forget_sizes(GROWING)


def walked_whole(work: Callable[[], object], known: set[str] | None = None) -> dict[str, str]:
    """The growing tables that statements of some work cannot find their rows in by an index."""
    with CaptureQueriesContext(connection) as asked, transaction.atomic():
        work()
    known = set() if known is None else known
    found: dict[str, str] = {}
    with connection.cursor() as cursor:
        # Of little rows, or after many others, whole tables are hashed or merged, whatever index there is.
        for way in OTHER_WAYS:
            cursor.execute(f"SET LOCAL {way} = off")
        # Of those that are answered now, of what is unfinished: indexes of a few rows.
        cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL")
        few = {name for (name,) in cursor.fetchall()}
        for query in asked:
            sql = query["sql"]
            shape = re.sub(r"'[^']*'|[0-9]+|(, )", "", sql)  # one of each is asked for
            if not sql.startswith(("SELECT", "DELETE", "UPDATE")) or shape in known:
                continue
            known.add(shape)
            cursor.execute("EXPLAIN (FORMAT JSON) " + sql)
            plan = cursor.fetchone()[0][0]["Plan"]
            found |= dict.fromkeys(_without_condition(plan, few), sql)
        for way in OTHER_WAYS:
            cursor.execute(f"SET LOCAL {way} = on")
    return found


def _without_condition(node: dict[str, Any], few: Set[str]) -> Iterator[str]:
    """The growing tables that a plan reads from one end to the other."""
    is_found = "Index Cond" in node or node.get("Index Name") in few
    if node["Node Type"] in SCANS and node["Relation Name"] in GROWING and not is_found:
        yield node["Relation Name"]
    for child in node.get("Plans", ()):
        yield from _without_condition(child, few)


def batches(step: Callable[[], object], *, end: object) -> Iterator[Callable[[], object]]:
    """Batches to the last one."""
    last: list[object] = []
    while last[-1:] != [end]:
        yield lambda: last.append(step())


SCOPES = {
    "a night": lambda copilot: PrivacyScope(copilot=copilot, idle_before=timezone.now()),
    "a copilot": lambda copilot: PrivacyScope(copilot=copilot),
    "a caller": lambda _: PrivacyScope(principal="anonymous"),
    "a user": lambda _: PrivacyScope(user=models.EndUser.objects.get().pk),
    "a period": lambda _: PrivacyScope(
        since=START - timedelta(days=1), until=START + timedelta(days=1)
    ),
}


@pytest.mark.parametrize(
    "scope",
    [pytest.param(one, marks=[pytest.mark.nightly] if one != "a night" else []) for one in SCOPES],
)
def test_a_removal_finds_its_rows_by_indexes(scope):
    version = make_version()
    fill(version, conversations=1)
    user = models.EndUser.objects.create(identifier="ada", first_at=START, last_at=START)
    models.Conversation.objects.update(user=user)
    removal = begin_erasure(SCOPES[scope](version.copilot_id))
    found, known = {}, set()
    for batch in batches(lambda: remove_batch(removal.pk), end=BatchResult.DONE):
        found |= walked_whole(batch, known)
    assert found == {}


@pytest.mark.nightly
def test_the_deletion_of_a_copilot_finds_its_rows_by_indexes():
    version = make_version()
    fill(version, conversations=1)
    mark_for_deletion([version.copilot_id])
    found, known = {}, set()
    for batch in batches(lambda: delete_batch(version.copilot_id), end=BatchResult.DONE):
        found |= walked_whole(batch, known)
    assert found == {}


def test_a_sweep_looks_at_its_part_alone():
    fill(make_version(), conversations=1)
    found = walked_whole(lambda: sweep_batch(Sweep("0" * 64)))
    assert found == {}


def test_a_statement_that_reads_a_whole_table_is_known():
    assert set(walked_whole(lambda: models.Run.objects.filter(error="x").exists())) == {
        models.Run._meta.db_table
    }
