"""A limit that is reached answers every client alike, before the first byte, in words."""

import asyncio
import json
from typing import Any

from asgiref.sync import async_to_sync
from django.test import AsyncClient
import pytest

from copilot_admin.agent.values.model_call import Finish, TextDelta, Usage
from copilot_admin.asgi import application
from copilot_admin.limits.counters import SLOTS
from copilot_admin.limits.rules import LimitSubject
from copilot_admin.limits.usage import USAGE_CACHE
from copilot_admin.models import Copilot, DailyTotal, LimitScope, ModelPrice, Outcome, Run
from copilot_admin.runs.open_run import REJECTED_RUNS
from copilot_admin.telemetry import finished_runs
from copilot_admin.telemetry.finished_runs import FinishedRun
from copilot_admin.transcripts.store.rollups import count_finished_runs
from tests.agent.scripted import Step, stalled, text
from tests.api.test_questions import Client, ask, script
from tests.factories import make_key, make_published
from tests.limits.limiting import limited

pytestmark = pytest.mark.django_db(transaction=True)

WORKSPACE = "https://pro.openbb.co"
HEADERS = {"Host": "testserver", "Origin": WORKSPACE}
PEER = ("203.0.113.9", 50000)


def asked(**about: Any) -> tuple[int, dict[str, str], bytes]:
    return ask(application, **{"headers": HEADERS, "client": PEER, **about})


def posted(path: str, body: Any, **headers: str) -> tuple[int, Any, dict[str, str]]:
    async def send() -> tuple[int, Any, dict[str, str]]:
        response = await AsyncClient().post(
            path, json.dumps(body), content_type="application/json", headers=headers
        )
        return response.status_code, json.loads(response.content), dict(response.headers)

    return async_to_sync(send)()


def of(copilot: Copilot) -> LimitSubject:
    return LimitSubject(LimitScope.COPILOT, str(copilot.pk))


def test_whoever_streams_and_whoever_does_not_read_the_same_refusal(monkeypatch):
    copilot = make_published(slug="news")
    script(monkeypatch, text("Hello."))
    told: list[FinishedRun] = []
    with limited({of(copilot): {"requests_per_day": 1}}):
        assert asked()[0] == 200
        monkeypatch.setattr(finished_runs, "LISTENERS", [told.append])
        refusals = [
            asked(headers={**HEADERS, "Accept": kind})
            for kind in ("text/event-stream", "application/json")
        ]
    assert [(run.outcome, run.has_row) for run in told] == [(Outcome.REFUSED, True)] * 2
    for status, headers, body in refusals:
        said = json.loads(body)
        assert (status, said["code"]) == (429, "limit-reached")
        assert said["detail"].startswith(
            "This copilot has reached its limit of 1 request per day. Try again "
        )
        assert 0 < int(headers["retry-after"]) <= 86400
        assert headers["access-control-allow-origin"] == WORKSPACE
        assert "Retry-After" in headers["access-control-expose-headers"]
        assert headers["cache-control"] == "no-store"
    assert set(json.loads(refusals[0][2])) == {"detail", "code"}


def test_a_stranger_has_so_many_answers_at_once_and_others_are_not_touched(monkeypatch, settings):
    settings.ANONYMOUS_CONCURRENT = 2
    make_published(slug="news")
    key = make_key()[1]
    script(monkeypatch, *[stalled("Wait.")] * 4)

    async def scenario() -> list[int]:
        streams = [Client(application, headers=HEADERS, client=PEER) for _ in range(2)]
        tasks = [asyncio.ensure_future(one.ask()) for one in streams]
        for one in streams:
            await one.arrived.wait()
        third = await Client(application, headers=HEADERS, client=PEER).ask()
        others = [
            Client(application, headers=HEADERS, client=("203.0.113.10", 1)),
            Client(application, headers={**HEADERS, "X-API-Key": key}, client=PEER),
        ]
        tasks += [asyncio.ensure_future(one.ask()) for one in others]
        for one in others:
            await one.arrived.wait()
        for one in (*streams, *others):
            one.has_left.set()
        await asyncio.gather(*tasks)
        return [one.answer[0] if one is third else 200 for one in (third, *others)]

    assert asyncio.run(scenario()) == [429, 200, 200]


def test_a_seat_is_free_when_the_stream_has_ended_or_its_client_gone(monkeypatch):
    copilot = make_published(slug="news")
    script(monkeypatch, *[text("Hello.")] * 3, stalled("Wait."), text("Hello."))
    with limited({of(copilot): {"concurrent": 1}}):
        assert [asked()[0] for _ in range(3)] == [200] * 3

        async def leaves() -> None:
            one = Client(application, headers=HEADERS, client=PEER)
            task = asyncio.ensure_future(one.ask())
            await one.arrived.wait()
            one.has_left.set()
            await task

        asyncio.run(leaves())
        assert asked()[0] == 200
    assert SLOTS._held == {}


@pytest.mark.database
def test_an_answer_is_charged_by_tokens_and_price(monkeypatch):
    copilot = make_published(slug="news", model="m")
    ModelPrice.objects.create(
        provider=copilot.provider, model="m", valid_from="2020-01-01", input=1, output=2
    )
    usage = Usage(input_tokens=1000, output_tokens=500)
    script(monkeypatch, *[Step((TextDelta("Hello."), usage, Finish("stop")))] * 3)
    limits = {"tokens_per_month": 3000, "usd_per_month": 0.003}
    with limited({of(copilot): limits}):
        assert [asked()[0] for _ in range(2)] == [200, 200]
        [(_, used)] = USAGE_CACHE._found.values()
        assert (used.tokens, used.nano_usd) == (3000, 4_000_000)
        status, _, body = asked()
    assert (status, json.loads(body)["detail"].partition(".")[0]) == (
        429,
        "This copilot has used up its token budget for this month",
    )


@pytest.mark.database
def test_a_flood_of_rejections_is_one_run_and_every_metric_counts_it(monkeypatch):
    copilot = make_published(slug="news")
    script(monkeypatch, text("Hello."))
    with limited({of(copilot): {"requests_per_minute": 1}}):
        assert [asked()[0] for _ in range(6)] == [200] + [429] * 5
    async_to_sync(REJECTED_RUNS.store)()
    async_to_sync(REJECTED_RUNS.store)()
    [run] = Run.objects.filter(outcome=Outcome.REFUSED)
    assert (run.times, run.error_code, run.principal) == (5, "limit-reached", "anonymous")
    assert run.error.startswith("This copilot has reached its limit of 1 request per minute.")
    count_finished_runs()
    total = DailyTotal.objects.get()
    assert (total.runs, total.completed, total.refused) == (6, 1, 5)
