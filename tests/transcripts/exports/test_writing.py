"""An export is written in batches, by one at a time, and goes on where it stopped."""

import csv
from datetime import timedelta
import io

from django.utils import timezone
from django_tasks_db.models import DBTaskResult
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.jobs.export_tasks import resume_exports
from copilot_admin.models import Copilot, ExportPart, ExportState, TranscriptExport
from copilot_admin.transcripts.exports import writing
from copilot_admin.transcripts.exports.reading import ExportOptions
from copilot_admin.transcripts.exports.writing import (
    ExportWriter,
    begin_export,
    describe_query,
    discard_export,
    file_name,
    find_id_range,
    freeze_query,
    next_window,
    read_selection,
    stop_export,
    sweep_exports,
)
from tests.factories import make_user, make_version
from tests.transcripts.exports.exporting import begun, parts_of, text_of, written
from tests.transcripts.store.journaling import Client

IN_DATABASE = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    background_tasks.start()


def conversations(number: int) -> list[int]:
    version = make_version()
    return [
        Client(version=version, trace_id=f"t-{n}").ask(f"Q{n}?").answer("Yes.").conversation.pk
        for n in range(number)
    ]


def ids_in(export: TranscriptExport) -> list[int]:
    rows = csv.DictReader(io.StringIO(text_of(export).removeprefix("\ufeff"), newline=""))
    return [int(row["conversation"]) for row in rows]


def one_by_one(monkeypatch) -> None:
    """Lets a batch end after a conversation, and a part after a line."""
    monkeypatch.setattr(writing, "BATCH_SECONDS", 0)
    monkeypatch.setattr(writing, "PART_BYTES", 1)


def test_an_export_is_the_whole_file_with_its_figures():
    ids = conversations(3)
    export = written(begun())
    assert ids_in(export) == ids[::-1]
    assert (export.state, export.per_cent) == (ExportState.DONE, 100)
    assert (export.n_conversations, export.n_turns) == (3, 3)
    assert export.size == len(text_of(export).encode())
    assert file_name(export) == f"transcripts-{timezone.now():%Y-%m-%d}-{export.pk}.csv"


def test_it_goes_on_where_a_dead_process_stopped(monkeypatch):
    ids = conversations(4)
    one_by_one(monkeypatch)
    export = begun()
    dead = ExportWriter(export.pk, export.claim)
    assert dead.write_batch()
    export.refresh_from_db()
    assert (export.position, export.n_conversations) == (ids[-1], 1)
    assert 0 < export.per_cent < 100
    leftover = ExportPart(export=export, ord=export.n_parts, data=b"half a conversation")
    leftover.save()
    assert ids_in(written(export)) == ids[::-1]


def test_of_two_who_write_one_has_the_claim(monkeypatch, settings):
    ids = conversations(4)
    one_by_one(monkeypatch)
    export = begun()
    slow = ExportWriter(export.pk, export.claim)
    assert slow.write_batch()
    TranscriptExport.objects.update(moved_at=timezone.now() - timedelta(minutes=1))
    settings.TASKS = IN_DATABASE
    resume_exports()
    resume_exports()
    assert DBTaskResult.objects.get().args_kwargs["args"] == [export.pk, 1]
    fast = ExportWriter(export.pk, 1)
    assert fast.write_batch()
    assert not slow.write_batch()
    while fast.write_batch():
        pass
    export.refresh_from_db()
    assert ids_in(export) == ids[::-1]


def test_a_stopped_export_ends_and_its_parts_go(monkeypatch):
    conversations(3)
    one_by_one(monkeypatch)
    export = begun()
    running = ExportWriter(export.pk, export.claim)
    running.write_batch()
    assert stop_export(export) is True
    assert stop_export(export) is False
    assert not running.write_batch()
    export.refresh_from_db()
    assert export.state == ExportState.STOPPED
    while sweep_exports():
        pass
    assert parts_of(export) == []
    assert TranscriptExport.objects.filter(pk=export.pk).exists()


def test_an_export_is_swept_after_a_week_or_when_it_is_discarded():
    export, discarded = written(begun()), written(begun())
    assert sweep_exports() == 0
    discard_export(discarded)
    assert TranscriptExport.objects.unexpired().get() == export
    TranscriptExport.objects.update(expires_at=timezone.now())
    assert [sweep_exports() for _ in range(3)] == [2, 2, 0]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("find_disk_problem", lambda: "full", "too little room on the disk"),
        ("read_selection", KeyError(), "The export broke down. Operators find why in the log."),
    ],
)
def test_an_export_that_cannot_be_written_says_why(monkeypatch, name, value, sentence):
    def fail(*_: object) -> None:
        raise value

    conversations(1)
    export = begun()
    monkeypatch.setattr(writing, name, fail if isinstance(value, Exception) else value)
    assert sentence in written(export).error


def test_where_copilots_have_members_prompts_are_those_of_copilots_that_the_owner_knows(settings):
    settings.MEMBERS = True
    owner = make_user(Role.REVIEWERS, Role.BUILDERS)
    for slug, prompt in (("mine", "Be brief."), ("theirs", "Be secret.")):
        version = make_version(slug=slug, system_prompt=prompt)
        Copilot.objects.filter(slug=slug).update(is_for_all_builders=slug == "mine")
        Client(version=version, trace_id=slug).ask(f"{slug}?").answer("Yes.")
    options = ExportOptions(with_prompts=True)
    export = begin_export(owner.pk, given={}, name="jsonl", options=options)
    said = text_of(written(export))
    assert [word in said for word in ("mine?", "theirs?", "Be brief.", "Be secret.")] == [
        *(True, True, True, False)
    ]


def find(query: str) -> list[int]:
    selected, below = read_selection(query), find_id_range()[1] + 1
    found: list[int] = []
    while (window := next_window(selected, below)) is not None:
        ids, below = window
        found += ids
    return found


def ask(text: str, *, trace: str = "", **options: object) -> int:
    client = Client(trace_id=trace or None, **options)  # type: ignore[arg-type]
    return client.ask(text).answer("Yes.").conversation.pk


def test_all_windows_together_are_the_list_newest_first(monkeypatch):
    assert (find_id_range(), find("")) == ((0, 0), [])
    monkeypatch.setattr(writing, "WINDOW", 2)
    version = make_version()
    ids = [ask(f"Question {n}?", trace=f"t-{n}", version=version) for n in range(5)]
    assert find("") == find(f"copilot={version.copilot.slug}") == ids[::-1]
    assert find("outcome=failed") == find("copilot=nobody") == []
    mark_for_deletion([version.copilot_id])
    assert find("") == []


def test_words_are_found_however_old_they_are(monkeypatch):
    monkeypatch.setattr(writing, "WINDOW", 1)
    rare = ask("zyxwvu and more?", trace="a")
    for n in range(3):
        ask("Something else?", trace=f"b-{n}")
    assert find("q=zyxwvu") == [rare]
    assert find("q=zyxwvu&outcome=failed") == []


def test_an_id_names_a_conversation_whatever_the_filters():
    named = ask("Something?", trace="trace-of-one")
    ask("Something else?", trace="other")
    assert find("q=trace-of-one&outcome=failed") == [named]
    assert read_selection("q=trace-of-one").count(9, seconds=1) == 1
    with_number = ask(f"What is {named}?", trace="third")
    assert find(f"q={named}") == [with_number, named]


def test_a_stored_query_has_dates_and_is_shown_as_text():
    today = timezone.now().date()
    assert freeze_query({"days": "7", "page": "2"}) == f"since={today - timedelta(days=6)}"
    assert freeze_query({"days": "90", "since": f"{today}"}) == f"since={today}"
    assert freeze_query({"days": "8"}) == "days=8"
    ask("Something?", version=make_version(name="Desk <b>", slug="desk"))
    assert describe_query("q=rates&copilot=desk&outcome=failed") == (
        "“rates”; Copilot: Desk <b>; Outcome: Failed"
    )
    assert freeze_query({}) == describe_query("") == ""
