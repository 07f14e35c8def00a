"""Refused requests are runs without a turn, and days count what was asked."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from copilot_admin.models import DailyUsage, ErrorUsage, Logging, Outcome, Run
from copilot_admin.transcripts.store import JOURNAL, Refusal
from copilot_admin.transcripts.store.opening import accept, prepare, refuse
from copilot_admin.transcripts.store.rollups import count_finished_runs
from tests.factories import make_version
from tests.transcripts.store.journaling import START, Client, ending
from tests.transcripts.store.spooling import spool

__all__ = ["spool"]
pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


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
    assert count_finished_runs() == 1
    assert DailyUsage.objects.get().runs == 1


def test_requests_refused_like_one_that_is_stored_are_counted_with_it_and_no_others():
    refused = refusal(Logging.EVERYTHING)
    asyncio.run(JOURNAL.refuse(refused))
    count_finished_runs()
    asyncio.run(JOURNAL.refuse_more(refused, 4))
    asyncio.run(JOURNAL.refuse_more(replace(refused, run_id=uuid4()), 9))
    count_finished_runs()
    assert (Run.objects.get().times, DailyUsage.objects.get().runs) == (5, 5)


def test_names_of_models_and_providers_are_cut_as_their_columns_are():
    opening = replace(Client().opening("Hi"), model="m" * 201, provider="p" * 101)
    accept(prepare(opening))
    run = Run.objects.get()
    assert (run.model, run.provider) == ("m" * 200, "p" * 100)
    refuse(refusal(Logging.EVERYTHING, model="r" * 201, error_code="e" * 51))
    refused = Run.objects.get(outcome=Outcome.REFUSED)
    assert (refused.model, refused.error_code) == ("r" * 200, "e" * 50)
    count_finished_runs()
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
