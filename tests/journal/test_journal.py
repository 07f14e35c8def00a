"""A run is in the journal before its first byte, and whole in it before its last."""

import asyncio
from dataclasses import replace
from datetime import timedelta
import json
import os
from pathlib import Path
import signal
import sqlite3
import subprocess
import sys
import threading
from types import MappingProxyType
from uuid import UUID, uuid4

from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
import pytest

from copilot_admin.engine.values.model_call import Usage
from copilot_admin.errors import Unavailable
from copilot_admin.journal import JOURNAL, Journal, Refusal, beat, reap, reaping, replay_spool
from copilot_admin.journal import journal as journal_module
from copilot_admin.journal import usage as usage_module
from copilot_admin.journal.checkpoints import pieces_of
from copilot_admin.journal.checkpoints import store as store_pieces
from copilot_admin.journal.finishing import finish
from copilot_admin.journal.opening import accept, prepare, refuse
from copilot_admin.journal.record import Piece
from copilot_admin.journal.recorder import Recorder
from copilot_admin.journal.sealing import LARGEST_INTEGER, from_json, seal, to_json
from copilot_admin.journal.usage import CountedRun, UsageKey, count
from copilot_admin.models import (
    Checkpoint,
    Conversation,
    DailyUsage,
    ErrorUsage,
    Event,
    Logging,
    Node,
    Outcome,
    Run,
    Turn,
    TurnState,
)
from copilot_admin.storage import blobs, damage
from copilot_admin.storage.database_thread import JournalBroken, JournalDown
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER
from protocol.events import ArtifactType, MessageArtifact, MessageChunk, StatusUpdate
from tests.factories import make_version
from tests.journal.journaling import START, Client, ai, call_event, ending, record_of
from tests.waiting import HANGS_SECONDS

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LATER = START + timedelta(seconds=5)


@pytest.fixture(autouse=True)
def spool(settings, tmp_path) -> Path:
    settings.DATA_DIR = tmp_path
    return Path(tmp_path) / "spool"


def test_an_accepted_run_is_committed_with_its_turn():
    opening = Client(trace_id="chat").opening("Hi", env={"timezone": "UTC"})
    accepted = asyncio.run(JOURNAL.accept(opening))
    run = Run.objects.get(pk=opening.run_id)
    assert (run.conversation_id, run.turn_id) == (accepted.conversation_id, accepted.turn_id)
    assert (run.outcome, run.model, run.params, run.generation) == (
        Outcome.RUNNING,
        "small-1",
        {"temperature": 0.2},
        3,
    )
    assert Turn.objects.get().state == TurnState.OPEN


def test_up_to_32_kb_are_made_ready_in_the_event_loop():
    assert journal_module.PREPARE_INLINE_BYTES == 32_768


@pytest.mark.parametrize(
    ("size", "in_loop"),
    [(journal_module.PREPARE_INLINE_BYTES, True), (journal_module.PREPARE_INLINE_BYTES + 1, False)],
)
def test_only_a_big_request_is_made_ready_beside_the_event_loop(monkeypatch, size, in_loop):
    threads = []

    def watched(opening):
        threads.append(threading.current_thread())
        return prepare(opening)

    monkeypatch.setattr(journal_module.opening, "prepare", watched)
    asyncio.run(JOURNAL.accept(replace(Client().opening("Hi"), size=size)))
    assert [thread is threading.main_thread() for thread in threads] == [in_loop]


def test_a_run_is_accepted_once_however_often_it_is_written():
    prepared = prepare(Client(trace_id="chat").opening("Hi"))
    with transaction.atomic():
        first = accept(prepared)
    with transaction.atomic():
        second = accept(prepared)
    assert (first.turn_id, first.conversation_id) == (second.turn_id, second.conversation_id)
    assert second.recollection.looped is False
    conversation = Conversation.objects.get()
    assert (conversation.n_runs, conversation.n_turns, Run.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError])
def test_a_journal_without_a_database_refuses_runs(failure, monkeypatch):
    async def refuse_all(job: object) -> None:
        raise failure("no such host")

    monkeypatch.setattr(WRITER, "run", refuse_all)
    opening = Client(logging=Logging.METADATA).opening("Hi")
    with pytest.raises(Unavailable) as refused:
        asyncio.run(JOURNAL.accept(opening))
    assert refused.value.code == "journal-down"
    assert opening.run_id not in JOURNAL._private


def test_checkpoints_are_there_until_the_run_has_ended():
    opening = Client().opening("Hi")

    async def stream() -> None:
        await JOURNAL.accept(opening)
        recorder = Recorder()
        for text in ("Hel", "lo"):
            recorder.add(MessageChunk(text), at_ms=0)
            piece = recorder.unsaved()
            assert piece is not None
            JOURNAL.checkpoint(opening.run_id, piece)
        await WRITER.run(lambda: None)
        assert await asyncio.to_thread(checkpoints) == 2
        await JOURNAL.finish(opening.run_id, recorder.record(ending()))

    asyncio.run(stream())
    run = Run.objects.get(pk=opening.run_id)
    assert (run.outcome, run.output_node.text, Checkpoint.objects.count()) == (
        Outcome.COMPLETED,
        "Hello",
        0,
    )


@pytest.mark.parametrize("was_checkpointed", [True, False])
def test_checkpoints_are_looked_for_only_where_there_may_be_some(was_checkpointed):
    asked = Client().ask("Hi")
    recorder = Recorder()
    recorder.add(MessageChunk("Hello"), at_ms=0)
    if was_checkpointed:
        recorder.unsaved()
    sealed = seal(recorder.record(ending()), run_id=asked.run_id, at=asked.at)
    with CaptureQueriesContext(connection) as captured, transaction.atomic():
        finish(sealed)
    deleted = [one["sql"] for one in captured if one["sql"].startswith("DELETE")]
    assert len(deleted) == was_checkpointed
    assert from_json(to_json(sealed)).was_checkpointed  # nobody knows


def checkpoints() -> int:
    try:
        return Checkpoint.objects.count()
    finally:
        connection.close()


def test_a_checkpoint_that_comes_late_is_dropped():
    asked = Client().ask("Hi").answer("Hello")
    recorder = Recorder()
    recorder.add(MessageChunk("x"), at_ms=0)
    JOURNAL.checkpoint(asked.run_id, recorder.unsaved())
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert Checkpoint.objects.count() == 0


def test_what_takes_long_to_seal_keeps_no_others_waiting(monkeypatch):
    threads: list[int] = []

    def noting(*arguments, **options):
        threads.append(threading.get_ident())
        return seal(*arguments, **options)

    monkeypatch.setattr(journal_module, "seal", noting)
    wide = MessageArtifact(
        type=ArtifactType.TABLE,
        uuid="u",
        artifact_name="t",
        description="",
        content=[{f"k{number}": number for number in range(2000)}],
    )

    short, long = Client().ask("Hi").run_id, Client().ask("And now?").run_id

    async def finish_both():
        assert await JOURNAL.finish(short, record_of(MessageChunk("Hello")))
        assert await JOURNAL.finish(long, record_of(wide))

    asyncio.run(finish_both())
    assert [one == threading.get_ident() for one in threads] == [True, False]


def test_a_checkpoint_never_raises(monkeypatch, caplog):
    recorder = Recorder()
    recorder.add(MessageChunk("x"), at_ms=0)
    piece = recorder.unsaved()

    def fail(*args: object) -> None:
        raise IntegrityError("told nobody")

    monkeypatch.setattr(journal_module.checkpoints, "store", fail)
    JOURNAL.checkpoint(uuid4(), piece)
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    full = Journal(type(WRITER)("full", capacity=0), SPOOL)
    full.checkpoint(uuid4(), piece)
    full.checkpoint(uuid4(), piece)
    assert "checkpoint failed: IntegrityError" in caplog.text
    assert "told nobody" not in caplog.text
    assert caplog.text.count("no room for a checkpoint") == 2


def test_the_checkpoints_of_all_runs_that_come_together_are_one_job(monkeypatch):
    client, stored = Client(), []
    monkeypatch.setattr(
        journal_module.checkpoints, "store", lambda pieces: stored.append(store_pieces(pieces))
    )
    asked = [client.ask("Hi"), client.ask("Ho")]
    go = threading.Event()
    WRITER.submit(lambda: go.wait(HANGS_SECONDS))
    for run in asked:
        recorder = Recorder()
        for text in ("one", "two"):
            recorder.add(MessageChunk(text), at_ms=0)
            JOURNAL.checkpoint(run.run_id, recorder.unsaved())
    go.set()
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert len(stored) == 1
    rows = Checkpoint.objects.order_by("id").values_list("run_id", "ord")
    assert list(rows) == [(run.run_id, order) for run in asked for order in (0, 1)]


def test_pieces_are_stored_although_their_job_has_to_be_done_again(monkeypatch):
    asked, recorder = Client().ask("Hi"), Recorder()
    recorder.add(MessageChunk("one"), at_ms=0)
    broken = [OperationalError("database is locked")]

    def store_at_second_try(pieces):
        if broken:
            raise broken.pop()
        store_pieces(pieces)

    monkeypatch.setattr(journal_module.checkpoints, "store", store_at_second_try)
    JOURNAL.checkpoint(asked.run_id, recorder.unsaved())
    WRITER.submit(lambda: None).result(HANGS_SECONDS)
    assert pieces_of(asked.run_id) == [Piece(0, "one", ())]


def test_beating_reaches_the_runs_that_are_open():
    client = Client()
    open_run, ended = client.ask("Hi"), client.ask("Ho").answer("Yes")
    ended_at = ended.run.heartbeat_at
    assert beat([open_run.run_id, ended.run_id, open_run.run_id]) == [open_run.run_id]
    assert open_run.run.heartbeat_at > open_run.at
    assert ended.run.heartbeat_at == ended_at
    assert beat([]) == []


def test_a_run_is_finished_once():
    asked = Client().ask("Hi").answer("Hello")
    sealed = seal(record_of(MessageChunk("Again")), run_id=asked.run_id, at=LATER)
    assert not store(sealed)
    assert asked.run.output_node.text == "Hello"
    assert asked.conversation.tokens == 15


def store(sealed) -> bool:
    with transaction.atomic():
        return finish(sealed) is not None


def test_a_run_that_is_gone_is_no_error():
    assert store(seal(record_of(), run_id=uuid4(), at=LATER)) is False


def test_numbers_and_texts_fit_their_columns():
    asked = Client().ask("Hi")
    huge = Usage(input_tokens=2**70, output_tokens=-5)
    record = record_of(huge, ended=ending(ms=2**40, error_code="x" * 90))
    assert store(seal(record, run_id=asked.run_id, at=LATER))
    run = asked.run
    assert (run.input_tokens, run.output_tokens, run.ms) == (LARGEST_INTEGER, 0, LARGEST_INTEGER)
    assert run.error_code == "x" * 50


@pytest.mark.parametrize("rows", [1, 500], ids=["in the row", "in a blob"])
def test_a_table_keeps_the_order_of_its_columns(rows):
    table = MessageArtifact(
        type=ArtifactType.TABLE,
        uuid="u",
        artifact_name="prices",
        description="",
        content=[{"symbol": "A", "price": 1.5, "day": "x", "a": None}] * rows,
    )
    asked = Client().ask("Hi").answer(table)
    event = Event.objects.get(type="artifact")
    assert (event.blob_id is None) is (rows == 1)
    [view] = conversation_of(asked)
    assert [list(row) for row in view["content"]] == [["symbol", "price", "day", "a"]] * rows


def conversation_of(asked):
    """The payloads of a run's events, as a reader gets them."""
    events = Event.objects.filter(run_id=asked.run_id).order_by("ord")
    return [
        blobs.load([event.blob_id])[event.blob_id] if event.blob_id else event.payload
        for event in events
    ]


def test_a_payload_may_be_any_mapping_and_nothing_else_that_is_no_json():
    field = Event._meta.get_field("payload")
    assert field.get_prep_value(MappingProxyType({"a": 1})) == '{"a": 1}'
    with pytest.raises(TypeError, match="set is no JSON"):
        field.get_prep_value({"a": {1}})


def test_a_big_payload_is_a_blob():
    asked = Client().ask("Hi").answer(StatusUpdate(message="x" * 5000), "Hello")
    event = Event.objects.get()
    assert (event.payload, event.blob is None) == (None, False)
    assert asked.run.output_node.text == "Hello"


def test_a_sealed_run_survives_the_spool():
    record = record_of(
        MessageChunk("Hi"),
        StatusUpdate(message="s"),
        call_event(),
        Usage(input_tokens=3),
        ended=ending(Outcome.FAILED, error="e", notes=("n",)),
    )
    sealed = seal(record, run_id=uuid4(), at=LATER)
    assert from_json(json.loads(json.dumps(to_json(sealed)))) == sealed
    assert sealed.is_call


@pytest.fixture(params=[OperationalError, InterfaceError])
def no_database(request, monkeypatch) -> None:
    async def fail(job: object) -> None:
        raise request.param("the secret value is in the driver's message")

    monkeypatch.setattr(WRITER, "run", fail)


@pytest.mark.usefixtures("no_database")
def test_what_the_database_cannot_take_is_spooled_and_stored_later(spool, caplog):
    asked = Client().ask("Hi")
    asyncio.run(JOURNAL.finish(asked.run_id, record_of(MessageChunk("Hello"))))
    (path,) = spool.iterdir()
    assert path.name == f"{asked.run_id}.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert caplog.messages[0].startswith(f"run {asked.run_id} goes to the spool: ")
    assert caplog.messages[0].endswith(("OperationalError", "InterfaceError"))
    assert "secret" not in caplog.text
    assert asked.run.outcome == Outcome.RUNNING
    assert replay_spool() == 1
    assert (asked.run.outcome, asked.run.output_node.text) == (Outcome.COMPLETED, "Hello")
    assert list(spool.iterdir()) == []
    assert replay_spool() == 0


@pytest.mark.usefixtures("no_database")
def test_the_spool_holds_nothing_that_may_not_be_kept(spool):
    client = Client(logging=Logging.METADATA)
    opening = client.opening("canary")
    JOURNAL._private.add(opening.run_id)
    with transaction.atomic():
        accept(prepare(opening))
    asyncio.run(JOURNAL.finish(opening.run_id, record_of(MessageChunk("canary"), call_event())))
    (path,) = spool.iterdir()
    assert "canary" not in path.read_text()
    assert "get_widget_data" not in path.read_text()
    assert replay_spool() == 1
    assert Node.objects.filter(role="ai").count() == 2


def test_no_content_is_stored_even_if_the_recorder_kept_it():
    opening = Client(logging=Logging.METADATA).opening("Hi")

    async def stream() -> None:
        await JOURNAL.accept(opening)
        recorder = Recorder()
        recorder.add(MessageChunk("canary"), at_ms=0)
        JOURNAL.checkpoint(opening.run_id, recorder.unsaved())
        await WRITER.run(lambda: None)
        assert await asyncio.to_thread(checkpoints) == 0
        await JOURNAL.finish(opening.run_id, recorder.record(ending()))

    asyncio.run(stream())
    assert Run.objects.get(pk=opening.run_id).output_node.text == ""
    assert opening.run_id not in JOURNAL._private


def test_a_few_spooled_runs_are_stored_at_once(spool):
    client = Client()
    asked = [client.ask(f"Question {number}") for number in range(3)]
    for one in asked:
        sealed = seal(record_of(MessageChunk("Hello")), run_id=one.run_id, at=LATER)
        SPOOL.put(one.run_id, to_json(sealed))
    assert [replay_spool(most=2), replay_spool(most=2), replay_spool(most=2)] == [2, 1, 0]


def test_a_spooled_end_replaces_the_guess_that_the_run_was_interrupted():
    asked = Client().ask("Hi")
    sealed = seal(record_of(MessageChunk("Hello"), StatusUpdate(message="s")), run_id=asked.run_id, at=LATER)  # fmt: skip
    SPOOL.put(sealed.run_id, to_json(sealed))
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 1
    assert asked.run.outcome == Outcome.INTERRUPTED
    assert replay_spool() == 1
    assert asked.run.outcome == Outcome.COMPLETED
    assert Event.objects.count() == 1
    assert DailyUsage.objects.get().runs == 1


@pytest.mark.parametrize("content", [b"{not json", b"[]", b'{"run_id": "x"}'])
def test_a_spooled_file_that_cannot_be_read_is_set_aside(spool, content, caplog):
    spool.mkdir()
    (spool / "run.json").write_bytes(content)
    assert replay_spool() == 0
    assert [path.name for path in spool.iterdir()] == ["run.bad"]
    assert "was set aside" in caplog.text


@pytest.mark.parametrize(
    ("field", "value"),
    [("ms", 2**70), ("ms", float("inf")), ("ended_at", "0001-01-01T00:00:00+14:00"),
     ("replies", [["text", "ab" * 32, {}, "", None]]), ("replies", 1), ("notes", None)],
)  # fmt: skip
def test_a_spooled_run_with_an_odd_field_keeps_no_other_from_being_stored(spool, field, value):
    odd, good = Client().ask("Hi"), Client().ask("Hello")
    for one, changed in ((odd, {field: value}), (good, {})):
        sealed = seal(record_of(MessageChunk("Yes")), run_id=one.run_id, at=LATER)
        SPOOL.put(one.run_id, to_json(sealed) | changed)
    assert replay_spool() == 1
    assert [odd.run.outcome, good.run.outcome] == [Outcome.RUNNING, Outcome.COMPLETED]
    assert [path.name for path in spool.iterdir()] == [f"{odd.run_id}.bad"]


def test_a_spool_that_another_process_stores_is_left_to_it(spool):
    asked = Client().ask("Hi")
    sealed = seal(record_of(MessageChunk("Hello")), run_id=asked.run_id, at=LATER)
    SPOOL.put(asked.run_id, to_json(sealed))
    with SPOOL.taken():
        assert replay_spool() == 0
    assert replay_spool() == 1


def test_a_spooled_file_that_another_process_took_is_no_error(spool, monkeypatch):
    spool.mkdir()
    (spool / "run.json").write_bytes(b"{}")

    def taken(path: Path) -> bytes:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_bytes", taken)
    assert replay_spool() == 0


def test_dead_runs_are_interrupted_and_keep_what_they_streamed():
    asked = Client(trace_id="chat").ask("Hi")
    recorder = Recorder()
    for text in ("Hel", "lo"):
        recorder.add(MessageChunk(text), at_ms=0)
        recorder.add(StatusUpdate(message=f"after {text}"), at_ms=40)
        store_pieces([(asked.run_id, recorder.unsaved())])
    Run.objects.update(boot_id="another", heartbeat_at=asked.at + timedelta(seconds=3))
    assert reap(every_other_boot=True) == 1
    run = asked.run
    assert (run.outcome, run.ms, run.ttft_ms) == (Outcome.INTERRUPTED, 3000, None)
    assert (run.error_code, run.heartbeat_at) == ("interrupted", asked.at + timedelta(seconds=3))
    assert run.output_node.text == "Hello"
    assert list(run.events.values_list("text_offset", flat=True)) == [3, 5]
    assert Checkpoint.objects.count() == 0
    assert (asked.conversation.has_error, Turn.objects.get().state) == (True, TurnState.FAILED)
    assert reap(every_other_boot=True) == 0


def test_of_many_dead_runs_those_that_began_first_are_ended_first(monkeypatch):
    assert reaping.AT_ONCE == 20  # questions wait behind them: 200 were a second
    monkeypatch.setattr(reaping, "AT_ONCE", 2)
    client = Client()
    asked = [client.ask(f"Question {number}") for number in range(3)]
    Run.objects.update(boot_id="another")
    assert reap(every_other_boot=True) == 2
    assert [one.run.outcome for one in asked] == ["interrupted", "interrupted", "running"]
    assert [reap(every_other_boot=True), reap(every_other_boot=True)] == [1, 0]


def test_a_piece_that_is_stored_twice_is_stored_once():
    asked = Client().ask("Hi")
    for text in ("one", "another"):
        store_pieces([(asked.run_id, Piece(0, text, ()))])
    assert pieces_of(asked.run_id) == [Piece(0, "one", ())]


def test_the_next_question_follows_an_interrupted_answer():
    client = Client()
    asked = client.ask("Hi")
    recorder = Recorder()
    recorder.add(MessageChunk("A long answer that was cut"), at_ms=0)
    store_pieces([(asked.run_id, recorder.unsaved())])
    Run.objects.update(boot_id="another")
    reap(every_other_boot=True)
    following = client.ask("Hi", ai("A long answer that was cut off later"), "Go on")
    assert following.conversation == asked.conversation


def test_runs_of_this_process_are_not_dead():
    asked = Client().ask("Hi")
    assert reap(every_other_boot=True) == 0
    assert asked.run.outcome == Outcome.RUNNING


def test_a_silent_run_that_this_process_knows_nothing_of_is_dead():
    """The database had it, and its connection broke before it said so: the client was refused."""
    lost, answering = Client().ask("Hi"), Client().ask("Ho")
    Run.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=31))
    assert reap(every_other_boot=False, alive={answering.run_id}) == 1
    assert (lost.run.outcome, answering.run.outcome) == (Outcome.INTERRUPTED, Outcome.RUNNING)


def test_another_process_is_dead_after_half_a_minute_of_silence():
    silent, alive = Client().ask("Hi"), Client().ask("Ho")
    now = timezone.now()
    Run.objects.update(boot_id="another", heartbeat_at=now - timedelta(seconds=25))
    Run.objects.filter(pk=silent.run_id).update(heartbeat_at=now - timedelta(seconds=31))
    assert reap(every_other_boot=False) == 1
    assert (silent.run.outcome, alive.run.outcome) == (Outcome.INTERRUPTED, Outcome.RUNNING)


def test_turns_that_wait_too_long_are_given_up():
    Client().ask("Hi").answer(call_event())
    Turn.objects.update(waiting_since=timezone.now() - timedelta(minutes=29))
    reap(every_other_boot=False)
    assert Turn.objects.get().state == TurnState.AWAITING_RESULT
    Turn.objects.update(waiting_since=timezone.now() - timedelta(minutes=31))
    reap(every_other_boot=False)
    assert Turn.objects.get().state == TurnState.ABANDONED
    assert Turn.objects.get().waiting_since is None


def test_very_many_turns_that_wait_are_given_up_in_rounds_the_oldest_first(monkeypatch):
    monkeypatch.setattr(reaping, "ABANDONED_AT_ONCE", 2)
    for number in range(3):
        Client(trace_id=f"trace {number}").ask("Hi").answer(call_event())
        since = timezone.now() - timedelta(minutes=40 - number)
        Turn.objects.filter(pk=Turn.objects.latest("pk").pk).update(waiting_since=since)
    for left in (1, 0):
        reap(every_other_boot=False)
        waiting = Turn.objects.filter(state=TurnState.AWAITING_RESULT)
        newest = Turn.objects.order_by("-pk").values_list("pk", flat=True)[:left]
        assert list(waiting.values_list("pk", flat=True)) == list(newest)


def refusal(logging: Logging, **changes: object) -> Refusal:
    version = make_version()
    usual = Refusal(
        run_id=uuid4(),
        copilot_id=version.copilot_id,
        version_id=version.pk,
        version_number=version.number,
        logging=logging,
        principal="key:1",
        started_at=START,
        error="Too many questions.",
        error_code="LimitReached",
    )
    return replace(usual, **changes)


@pytest.mark.parametrize(
    ("logging", "error", "principal"),
    [
        (Logging.EVERYTHING, "Too many questions.", "key:1"),
        (Logging.METADATA, "", "key:1"),
        (Logging.NOTHING, "", ""),
    ],
)
def test_a_refused_request_is_a_run_without_a_turn(logging, error, principal):
    refused = refusal(logging)
    asyncio.run(JOURNAL.refuse(refused))
    refuse(refused)
    run = Run.objects.get()
    assert (run.outcome, run.error, run.error_code, run.principal, run.turn, run.conversation) == (
        Outcome.REFUSED,
        error,
        "LimitReached",
        principal,
        None,
        None,
    )
    assert DailyUsage.objects.get().runs == 1


def test_requests_refused_like_one_that_is_stored_are_counted_with_it_and_no_others():
    refused = refusal(Logging.EVERYTHING)
    asyncio.run(JOURNAL.refuse(refused))
    asyncio.run(JOURNAL.refuse_more(refused, 4))
    asyncio.run(JOURNAL.refuse_more(replace(refused, run_id=uuid4()), 9))
    assert (Run.objects.get().times, DailyUsage.objects.get().runs) == (5, 5)


def test_a_file_that_is_damaged_is_remembered(monkeypatch):
    async def fails(job: object) -> None:
        broken = sqlite3.DatabaseError()
        broken.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise DatabaseError from broken

    async def down(job: object) -> None:
        raise DatabaseError

    monkeypatch.setattr(WRITER, "run", fails)
    journal = Journal(WRITER, SPOOL)
    with pytest.raises(JournalBroken):
        asyncio.run(journal.refuse_more(refusal(Logging.EVERYTHING), 1))
    assert damage.is_damaged()
    damage.begin_anew()
    monkeypatch.setattr(WRITER, "run", down)
    with pytest.raises(JournalDown):
        asyncio.run(journal.refuse_more(refusal(Logging.EVERYTHING), 1))
    assert not damage.is_damaged()


def test_names_of_models_and_providers_are_cut_as_their_columns_are():
    opening = replace(Client().opening("Hi"), model="m" * 201, provider="p" * 101)
    accept(prepare(opening))
    run = Run.objects.get()
    assert (run.model, run.provider) == ("m" * 200, "p" * 100)
    refuse(refusal(Logging.EVERYTHING, model="r" * 201, error_code="e" * 51))
    refused = Run.objects.get(outcome=Outcome.REFUSED)
    assert (refused.model, refused.error_code) == ("r" * 200, "e" * 50)
    assert DailyUsage.objects.get(model__startswith="r").model == "r" * 200
    assert ErrorUsage.objects.get().code == "e" * 50


@pytest.mark.parametrize(
    ("ttft_ms", "column"),
    [
        (0, "ttft_00"),
        (50, "ttft_00"),
        (51, "ttft_01"),
        (500, "ttft_10"),
        (501, "ttft_11"),
        (50_000, "ttft_30"),
        (50_001, "ttft_31"),
    ],
)
def test_the_day_counts_runs_by_their_first_token(ttft_ms, column):
    Client().ask("Hi").answer("Hello", ended=ending(ttft_ms=ttft_ms))
    day = DailyUsage.objects.get()
    assert (day.runs, day.errors, day.tokens, getattr(day, column)) == (1, 0, 15, 1)
    assert (day.day, day.model, day.version) == (START.date(), "small-1", 1)


def test_the_day_counts_errors_and_runs_without_a_token():
    client = Client()
    client.ask("Hi").answer("x", ended=ending(Outcome.FAILED, ttft_ms=None))
    client.ask("Ho").answer("y", ended=ending(Outcome.CANCELLED))
    day = DailyUsage.objects.get()
    assert (day.runs, day.errors, day.ttft_08, day.ttft_07) == (2, 1, 1, 0)


def test_a_day_that_another_process_began_is_counted_on(monkeypatch):
    version = make_version()
    asked = UsageKey(at=START, copilot_id=version.copilot_id, version=1, model="m", principal="p")
    run = CountedRun(outcome=Outcome.COMPLETED)
    count(asked, run)
    add, missed = usage_module._DAILY_RUN._add, [True]

    def miss_once(**values) -> int:
        return 0 if missed and missed.pop() else add(**values)

    monkeypatch.setattr(usage_module._DAILY_RUN, "_add", miss_once)
    count(asked, run)
    assert DailyUsage.objects.get().runs == 2


STREAM = """
import asyncio, os, sys
import django
from django.conf import settings
settings.configure(
    DATABASES={"default": __import__("json").loads(sys.argv[1])}, SECRET_KEY="k" * 50,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "copilot_admin"],
    USE_TZ=True, DATA_DIR=sys.argv[3],
)
django.setup()
from copilot_admin.models import CopilotVersion
from copilot_admin.journal import JOURNAL
from copilot_admin.journal.record import Piece
from copilot_admin.journal.recorder import Recorder
from protocol.events import MessageChunk
from tests.journal.journaling import Client, ending
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

async def run(client, number):
    opening = client.opening("Question", number)
    opening = __import__("dataclasses").replace(opening, started_at=timezone.now())
    await JOURNAL.accept(opening)
    recorder = Recorder()
    for step in range(number % 5 + 1):
        recorder.add(MessageChunk(f"word {step} "), at_ms=step)
        JOURNAL.checkpoint(opening.run_id, recorder.unsaved())
        await asyncio.sleep(0.002)
    await JOURNAL.finish(opening.run_id, recorder.record(ending()))
    print(opening.run_id, flush=True)

async def main(client):
    number = 0
    while True:
        await asyncio.gather(*(run(client, number + more) for more in range(8)))
        number += 8

version = CopilotVersion.objects.get(pk=sys.argv[2])
client = Client(version=version)
opening = client.opening
client.opening = lambda text, number: opening(f"{text} {number}")
asyncio.run(main(client))
"""


@pytest.mark.parametrize(
    "kill",
    [2, *(pytest.param(one, marks=pytest.mark.nightly) for one in (0, 1, 3))],
)
def test_a_killed_process_loses_no_finished_run(kill, tmp_path):
    version = make_version()
    database = dict(connection.settings_dict, OPTIONS={}, TEST={})
    finished = stream_until_killed(
        json.dumps(database, default=str), str(version.pk), str(tmp_path), lines=10 + 13 * kill
    )
    outcomes = dict(Run.objects.values_list("id", "outcome"))
    assert finished
    assert {outcomes[run_id] for run_id in finished} == {Outcome.COMPLETED}
    running = [run_id for run_id, outcome in outcomes.items() if outcome == Outcome.RUNNING]
    assert reap(every_other_boot=True) == len(running)
    for run in Run.objects.filter(pk__in=running):
        assert run.outcome == Outcome.INTERRUPTED
        assert run.output_node is None or run.output_node.text.startswith("word 0 ")
    assert set(Run.objects.values_list("outcome", flat=True)) <= {
        Outcome.COMPLETED,
        Outcome.INTERRUPTED,
    }


def stream_until_killed(*arguments: str, lines: int) -> list[UUID]:
    process = subprocess.Popen(
        [sys.executable, "-c", STREAM, *arguments],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        text=True,
    )
    assert process.stdout is not None
    finished = [process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    finished += process.stdout.read().splitlines(keepends=True)
    process.stdout.close()
    process.wait(HANGS_SECONDS)
    return [UUID(line.strip()) for line in finished if line.endswith("\n")]
