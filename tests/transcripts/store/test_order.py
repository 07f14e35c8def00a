"""What several processes write of the same conversations is written in one order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from django.db import transaction
import pytest

from copilot_admin.models import Checkpoint, Conversation, Node, NodeRole, Run
from copilot_admin.storage.held_back import FirstThen, InOrder, in_order
from copilot_admin.storage.spool import Spool
from copilot_admin.storage.writer import Writer
from copilot_admin.transcripts.store import Journal
from copilot_admin.transcripts.store.opening import acceptance, prepare
from copilot_admin.transcripts.store.record import Piece
from protocol.events import MessageChunk
from tests.databases import on_postgresql
from tests.factories import make_version
from tests.jobs.test_sweep_races import somebody_waits
from tests.storage.test_writer import hold
from tests.transcripts.store.journaling import Client, record_of
from tests.waiting import HANGS_SECONDS, eventually

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
TRACES = ("a", "b", "c")


def two_conversations() -> tuple[Client, Client]:
    version = make_version()
    first, second = (Client(version=version, trace_id=trace) for trace in "ab")
    first.ask("Hi").answer("Hello.")
    second.ask("Hi").answer("Hello.")
    return first, second


@on_postgresql
def test_who_waits_for_a_conversation_holds_none_that_comes_after_it():
    first, second = two_conversations()
    writer = Writer("one")
    go = hold(writer)
    jobs = [acceptance(prepare(client.opening("Hi", "And?"))) for client in (second, first)]
    futures = [writer.submit(job) for job in jobs]
    with transaction.atomic():  # another process, which has the first and asks for the second
        Conversation.objects.select_for_update().get(trace_id="a")
        go.set()
        assert eventually(somebody_waits)
        Conversation.objects.select_for_update(nowait=True).get(trace_id="b")
    assert all(future.result(HANGS_SECONDS).conversation_id for future in futures)
    assert writer.stop(timeout=HANGS_SECONDS)


async def together(writer: Writer, jobs: Sequence[Callable[[], Awaitable[object]]]) -> list[object]:
    """Hands over all before the first is done."""
    go = hold(writer)
    before = writer.waiting
    tasks = [asyncio.ensure_future(job()) for job in jobs]
    assert await asyncio.to_thread(eventually, lambda: writer.waiting == before + len(jobs))
    go.set()
    return await asyncio.gather(*tasks)


def test_beginnings_and_ends_that_come_together_are_written_by_conversation(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    version, writer = make_version(), Writer("one")
    journal = Journal(writer, Spool())
    openings = [Client(version=version, trace_id=trace).opening("Hi") for trace in reversed(TRACES)]

    def begun(opening: Any) -> Callable[[], Awaitable[object]]:
        return lambda: journal.accept(opening)

    def ended(opening: Any) -> Callable[[], Awaitable[object]]:
        record = record_of(MessageChunk("Hello."))
        return lambda: journal.finish(opening.run_id, record)

    asyncio.run(together(writer, [begun(opening) for opening in openings]))
    assert all(asyncio.run(together(writer, [ended(opening) for opening in openings])))
    conversations = Conversation.objects.order_by("id").values_list("trace_id", flat=True)
    answers = Node.objects.filter(role=NodeRole.AI).order_by("id")
    assert tuple(conversations) == TRACES
    assert tuple(answers.values_list("conversation__trace_id", flat=True)) == TRACES
    assert not journal._places
    assert writer.stop(timeout=HANGS_SECONDS)


def test_what_was_streamed_is_kept_although_its_run_begins_in_the_same_group(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    writer = Writer("one")
    journal = Journal(writer, Spool())
    opening = Client(trace_id="a").opening("Hi")

    async def begin_and_stream() -> None:
        go = hold(writer)
        accepted = asyncio.ensure_future(journal.accept(opening))
        journal.checkpoint(opening.run_id, Piece(0, "Hello.", ()))
        before = writer.waiting
        assert await asyncio.to_thread(eventually, lambda: writer.waiting > before)
        go.set()
        await accepted

    asyncio.run(begin_and_stream())
    assert writer.stop(timeout=HANGS_SECONDS)
    assert (Run.objects.count(), Checkpoint.objects.count()) == (1, 1)


def test_jobs_without_a_place_come_last_and_those_of_one_place_as_they_came():
    def nothing() -> None:
        pass

    late = InOrder(("b",), nothing)
    early = [FirstThen(("user",), nothing, InOrder(("a",), nothing)), InOrder(("a",), nothing)]
    assert sorted([nothing, late, *early], key=in_order) == [*early, late, nothing]
