"""The page of a conversation."""

from datetime import timedelta
from decimal import Decimal
import json
import re
from typing import Any
from uuid import UUID

from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.admin.transcripts.conversation_page import MAX_TURNS_AT_ONCE
from copilot_admin.admin.transcripts.trace import PROVIDER_WORDS
from copilot_admin.agent.response_writer import warning_events
from copilot_admin.agent.values.answer_request import ToolExchange
from copilot_admin.models import Conversation, Event, EventType, Logging, Outcome, Run, Turn
from protocol.events import ArtifactType
from tests.admin.transcripts.transcript_rows import (
    PRICES,
    artifact,
    call,
    chart,
    earlier_messages,
    echo,
    long_conversation,
    results,
    rich_conversation,
    what_it_brings,
)
from tests.factories import make_copilot, make_provider, make_user, make_version, sign_in
from tests.pricing.pricing import make_price
from tests.rendering.hostile_texts import PAYLOADS
from tests.rendering.test_markdown import Tags
from tests.transcripts.store.journaling import Client, ai, ending

pytestmark = pytest.mark.django_db
NOBODY = UUID(int=1)


def address(conversation: Conversation, rest: str = "change/") -> str:
    return f"/admin/copilot_admin/conversation/{conversation.pk}/{rest}"


def text_of(response: Any) -> str:
    assert response.status_code == 200
    return str(response.content.decode())


def test_the_page_shows_everything_of_a_conversation(reviewer: Browser):
    page = text_of(reviewer.get(address(rich_conversation())))
    for text in (
        "How did **Apple** do in November?",
        "<strong>16 %</strong>",
        "get_widget_data",
        "The widget is gone.",
        "<bdi>chart.png</bdi>",
        "The file &#x27;old.pdf&#x27; could not be read.",
        "The user wants closes. I have thirty rows.",
        "Reading Apple prices",
        '<div class="ca-chart"',
        "data-show-more",
        "tracker.example)",
        "Apple prices",
        'data-outcome="failed"',
        "The provider is down. Try again.",
        "ProviderUnavailable",
        "ارتفعت",
    ):
        assert text in page, text
    assert "tracker.example/pixel" not in page


def test_versions_of_an_edited_question_link_to_each_other(reviewer: Browser):
    conversation = rich_conversation()
    page = text_of(reviewer.get(address(conversation)))
    microsoft = Turn.objects.get(human_node__text="And Microsoft?")
    assert f"turn={microsoft.pk}#turn-{microsoft.pk}" in page
    assert f'id="turn-{microsoft.pk}"' not in page
    other = text_of(reviewer.get(address(conversation, f"change/?turn={microsoft.pk}")))
    assert "Microsoft stayed flat, on second thought." in other
    assert 'class="ca-fold" id="turn-' in other  # the earlier answer


@pytest.mark.parametrize("path", ["change/", "turns/{}/"])
def test_the_page_needs_the_same_queries_for_3_turns_and_for_60(reviewer: Browser, path: str):
    def queries(turns: int) -> int:
        conversation = long_conversation(turns, rows=PRICES)
        turn = Turn.objects.filter(conversation=conversation).latest("id")
        reviewer.get(address(conversation, path.format(turn.pk)))
        with CaptureQueriesContext(connection) as captured:
            assert reviewer.get(address(conversation, path.format(turn.pk))).status_code == 200
        return len(captured)

    assert queries(3) == queries(60) <= 25


def test_a_failure_says_its_sentence_once(reviewer: Browser):
    sentence = "The provider is down. Try again."
    failed = ending(Outcome.FAILED, error=sentence, error_code="ProviderUnavailable")
    asked = Client().ask("Hi?").answer("A beginning\n\n", *warning_events(sentence), ended=failed)
    page = text_of(reviewer.get(address(asked.conversation)))
    assert page.count(sentence) == 1
    assert "A beginning" in page
    alone = Client().ask("Hi again?").answer(*warning_events(sentence), ended=failed)
    assert text_of(reviewer.get(address(alone.conversation))).count(sentence) == 1


def test_what_is_not_there_is_not_found(reviewer: Browser):
    conversation, other = rich_conversation(), long_conversation(1)
    turn, run = Turn.objects.get(conversation=other), Run.objects.get(conversation=other)
    runs, turns = (f"runs/{NOBODY}/", f"runs/{run.pk}/"), ("turns/0/", f"turns/{turn.pk}/")
    keys = ("x", "r1-2", f"r{NOBODY.hex}-0", "n0-0-0")
    rests = (*runs, *turns, f"runs/{NOBODY}/request/", *(f"parts/{key}/" for key in keys))
    for rest in rests:
        assert reviewer.get(address(conversation, rest)).status_code == 404, rest


@pytest.mark.parametrize("rest", ["change/", "chat/", "panel/", "turns/1/"])
def test_pages_are_only_for_reading_and_kept_by_nobody(reviewer: Browser, rest: str):
    conversation = long_conversation(1)
    response = reviewer.post(address(conversation, rest))
    assert response.status_code == 405
    answer = reviewer.get(address(conversation))
    assert "no-store" in answer["Cache-Control"]


def test_a_running_answer_is_live_until_it_ends(reviewer: Browser):
    asked = Client().ask("Hi?")
    page = text_of(reviewer.get(address(asked.conversation)))
    assert "data-live" in page
    assert "data-socket" in page
    fragment = text_of(reviewer.get(address(asked.conversation, "chat/")))
    assert "data-live" in fragment
    assert 'id="facts"' in fragment
    assert "<html" not in fragment
    asked.answer("Done")
    Conversation.objects.update(last_at=asked.at - timedelta(days=1))
    done = text_of(reviewer.get(address(asked.conversation)))
    assert "data-live" not in done
    assert "data-socket" not in done


@pytest.mark.parametrize(
    "outcome", [one for one in Outcome if one not in (Outcome.RUNNING, Outcome.REFUSED)]
)
def test_every_ending_is_shown(reviewer: Browser, outcome: Outcome):
    asked = Client().ask("Hi?").answer("Half", ended=ending(outcome))
    page = text_of(reviewer.get(address(asked.conversation)))
    assert page.count(f'data-outcome="{outcome}"') == 1 + (outcome is not Outcome.COMPLETED)


def test_the_raw_page_shows_the_request_and_the_events(reviewer: Browser):
    client = Client(trace_id="chat")
    wish = call(symbol="AAPL")
    client.ask("Price?", env={"timezone": "Europe/Berlin"}).answer(wish)
    asked = client.ask("Price?", echo(wish), results(wish, "[1]")).answer("It is 42.")
    later = client.ask("Price?", ai("It is 42."), "Sure?").answer("Yes")
    run = address(asked.conversation, f"runs/{asked.run_id}/")
    page = text_of(reviewer.get(run))
    for text in ("copilotMessageChunk", "It is 42.", "get_widget_data", "<html"):
        assert text in page, text
    fragment = text_of(reviewer.get(f"{run}?fragment"))
    assert "<html" not in fragment
    download = reviewer.get(f"{run}request/")
    assert download["Content-Disposition"] == f'attachment; filename="request-{asked.run_id}.json"'
    assert download["Content-Type"] == "application/json"
    messages = json.loads(download.content)["messages"]
    assert [one["role"] for one in messages] == ["human", "ai", "tool"]
    last = reviewer.get(address(asked.conversation, f"runs/{later.run_id}/request/"))
    roles = [one["role"] for one in json.loads(last.content)["messages"]]
    assert roles == ["human", "ai", "tool", "ai", "human"]


def test_a_copilot_that_keeps_metadata_says_so_and_shows_no_text(reviewer: Browser):
    version = make_version(make_copilot(logging=Logging.METADATA))
    asked = (
        Client(version=version, logging=Logging.METADATA)
        .ask("Secret?")
        .answer("Hidden", artifact(ArtifactType.TABLE, PRICES))
    )
    page = text_of(reviewer.get(address(asked.conversation)))
    assert "Secret" not in page
    assert "Hidden" not in page
    assert 'data-outcome="completed"' in page


def trace_of(browser: Browser, conversation: Conversation, **options: Any) -> str:
    turn = Turn.objects.filter(conversation=conversation).latest("id")
    return text_of(browser.get(address(conversation, f"turns/{turn.pk}/trace/"), **options))


def test_the_trace_has_every_call_and_the_error_of_the_provider(reviewer: Browser):
    client = Client(trace_id="chat")
    wish = call(symbol="AAPL")
    client.ask("Price?").answer(ToolExchange("clock", {}, "12:00"), wish)
    failed = ending(
        Outcome.FAILED,
        error="The provider is down.",
        error_code="ProviderUnavailable",
        notes=(f"{PROVIDER_WORDS}HTTP 503: <overloaded>", "`widgets` was no list."),
    )
    asked = client.ask("Price?", echo(wish), results(wish, "[1]")).answer("It", ended=failed)
    page = trace_of(reviewer, asked.conversation)
    bars = re.findall(r'<li data-level="(\d)">.*?title="([^"]*)"', page)
    assert [level for level, _ in bars] == ["1", *"2" * (len(bars) - 1)]
    assert [name for _, name in bars][2:] != []
    assert "clock" in [name for _, name in bars]
    assert page.count("data-provider-error") == 1
    assert "HTTP 503: &lt;overloaded&gt;" in page
    assert "`widgets` was no list." in page
    assert "10 in, 5 out" in page
    assert "temperature" in page
    fragment = trace_of(reviewer, asked.conversation, headers={"HX-Request": "true"})
    assert "<html" not in fragment


def test_the_prompt_is_rebuilt_for_people_who_may_see_it(reviewer: Browser):
    copilot = make_copilot(system_prompt="You serve {{copilot.name}}.", name="Rates <Desk>")
    asked = Client(version=make_version(copilot)).ask("Hi?", env={"timezone": "UTC"})
    asked.answer("Hello")
    path = address(asked.conversation, f"runs/{asked.run_id}/prompt/")
    assert "You serve" not in text_of(reviewer.get(path))
    admin = sign_in(make_user(is_superuser=True))
    page = text_of(admin.get(path))
    assert "You serve Rates &lt;Desk&gt;." in page
    assert "<b>user</b>" in page
    Run.objects.update(copilot_version=None)
    assert "<pre" not in text_of(admin.get(path))


def shown(page: str) -> list[bool]:
    """Of each turn on a page whether it is more than a placeholder."""
    return ["data-later" not in head for head in re.findall(r"<article [^>]*>", page)]


def test_a_page_has_the_first_turns_and_placeholders_of_the_others(reviewer: Browser):
    conversation = long_conversation(60)
    page = text_of(reviewer.get(address(conversation)))
    assert shown(page) == [True] * MAX_TURNS_AT_ONCE + [False] * (60 - MAX_TURNS_AT_ONCE)
    assert "Question 59?" in page
    assert page.count("with some words to read") == MAX_TURNS_AT_ONCE
    turns = list(Turn.objects.filter(conversation=conversation).order_by("id"))
    named = text_of(reviewer.get(address(conversation, f"change/?turn={turns[30].pk}")))
    first = 29
    expected = [first <= place < first + MAX_TURNS_AT_ONCE for place in range(60)]
    assert shown(named) == expected


def widget_of(rows: int) -> Conversation:
    many = [{"day": day, "close": day * 1.5, "note": "words " * 10} for day in range(rows)]
    asked_for = call(symbol="AAPL")
    client = Client(trace_id=f"widget-{rows}")
    client.ask("Prices?").answer(asked_for)
    answer = ("Here.", artifact(ArtifactType.TABLE, many), chart("line", many, "close", x="day"))
    received = results(asked_for, json.dumps(many))
    return client.ask("Prices?", echo(asked_for), received).answer(*answer).conversation


def test_a_big_table_is_read_in_pieces(reviewer: Browser):
    page = text_of(reviewer.get(address(widget_of(1_200))))
    pieces = [
        link
        for link in re.findall(r'data-show-more [^>]*href="([^"]*)"', page)
        if "/parts/n" in link
    ]
    assert len(pieces) == 1
    seen, place = 15, 15
    while place:
        piece = text_of(reviewer.get(f"{pieces[0]}?fragment&from={place}"))
        seen += piece.count("<tr>") - 1
        assert f'<td class="ca-num" dir="ltr">{place}</td>' in piece
        place = int(next(iter(re.findall(r'data-from="(\d+)"', piece)), 0))
    assert seen == 1_200
    assert "501 to 1,000 shown" in text_of(reviewer.get(f"{pieces[0]}?from=500"))


def hostile_conversation(payload: str) -> Conversation:
    """A conversation that has one text in all its places."""
    copilot = make_copilot(name=f"{payload[:80]} {Conversation.objects.count()}")
    client = Client(version=make_version(copilot), trace_id="chat")
    asked = client.ask(
        *earlier_messages(payload), payload, notes=(payload,), **what_it_brings(payload)
    ).answer(payload, ended=ending(Outcome.FAILED, error=payload, error_code=payload[:50]))
    run = Run.objects.get(pk=asked.run_id)
    rows = [{payload: payload, "n": 1.0}, {payload: 2, "n": payload}]
    info = {
        "type": payload,
        "name": payload,
        "origin": payload,
        "widget_id": payload,
        "metadata": {"input_args": {payload: payload}},
    }
    chart = {"type": "chart", "name": payload, "description": payload, "content": rows}
    params = [
        {
            "chartType": kind,
            "xKey": payload,
            "yKey": [payload, "n"],
            "angleKey": "n",
            "calloutLabelKey": payload,
        }
        for kind in ("line", "bar", "scatter", "pie", "donut")
    ]
    payloads: list[tuple[EventType, Any]] = [
        (EventType.STATUS, {"eventType": payload, "message": payload, "details": [{payload: payload}, payload]}),
        (EventType.CITATION, {"citations": [{"source_info": info, "details": [{payload: payload}]}]}),
        (EventType.TOOL, {"name": payload, "arguments": {payload: payload}, "result": payload}),
        (EventType.REASONING, {"text": payload}),
        (EventType.DATA, {"text": f"## Data: ¶{payload}\n{payload}"}),
        (EventType.FILE, {"name": payload, "type": payload, "note": payload, "fault": payload}),
        (EventType.SUGGESTIONS, {"suggestions": [payload]}),
        (EventType.COMPONENT, {payload: payload}),
        (EventType.FUNCTION_CALL, {"function": payload, "input_arguments": {payload: payload}}),
        (EventType.ARTIFACT, {"type": "table", "name": payload, "description": payload, "content": rows}),
        (EventType.ARTIFACT, {"type": "html", "name": payload, "content": payload}),
        (EventType.ARTIFACT, {"type": payload, "name": payload, "content": payload}),
        *((EventType.ARTIFACT, {**chart, "chart_params": one}) for one in params),
    ]  # fmt: skip
    Event.objects.bulk_create(
        Event(run=run, ord=100 + place, type=kind, payload=content)
        for place, (kind, content) in enumerate(payloads)
    )
    Run.objects.filter(pk=run.pk).update(
        model=payload[:200], provider=payload[:100], finish_reason=payload[:50],
        params={payload: payload},
    )  # fmt: skip
    Conversation.objects.update(trace_id=payload[:128])
    return asked.conversation


# What no page of transcripts holds; the mark of the product is its only picture.
FORBIDDEN = frozenset({"iframe", "object", "embed", "base", "style", "noscript", "animate", "math"})
ADDRESSES = ("src", "href", "action", "data-load")
SCHEMES = ("javascript:", "data:", "vbscript:")


# Each of them alone is told of what draws it, in tests/rendering.
@pytest.mark.parametrize(
    "payload",
    [
        "\n\n".join(PAYLOADS),
        *(
            pytest.param(one, marks=pytest.mark.nightly if place % 18 else ())
            for place, one in enumerate(PAYLOADS)
        ),
    ],
)
def test_no_text_in_any_place_becomes_markup(reviewer: Browser, payload: str):
    conversation = hostile_conversation(payload)
    run = Run.objects.get(conversation=conversation)
    for rest in ("change/", f"runs/{run.pk}/", ""):
        path = address(conversation, rest) if rest else "/admin/copilot_admin/conversation/"
        page = text_of(reviewer.get(path))
        for tag, attributes in Tags(page).found:
            assert tag not in FORBIDDEN
            assert tag != "textarea" or attributes["name"] in ("text", "comment")
            assert tag != "img" or str(attributes["src"]).startswith("/static/")
            assert tag != "script" or str(attributes["src"]).startswith("/static/")
            assert not any(name.startswith("on") or name == "style" for name in attributes)
            for name in ADDRESSES:
                target = (attributes.get(name) or "").lower()
                assert not target.startswith(SCHEMES)
                assert tag == "a" or "evil.example" not in target


def test_costs_are_shown_and_unknown_ones_marked(reviewer: Browser):
    provider = make_provider(name="Provider", kind="openai_compatible")
    price = make_price(provider, model="small-1", input=Decimal("0.15"))
    client = Client(trace_id="chat-1")
    asked = client.ask("Hi").answer("Hello")
    page = text_of(reviewer.get(address(asked.conversation)))
    assert page.count(">$0.000042<") == 3  # facts, turn and details
    assert "input $0.15, output $8" in trace_of(reviewer, asked.conversation)
    price.delete()
    client.ask("Hi", "And?").answer("Yes")
    assert "at least $0.000042" in text_of(reviewer.get(address(asked.conversation)))
