"""The query endpoint: from a request body to events, and to a run in the journal."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client
import pytest

from copilot_admin.copilots.publishing import publish
from copilot_admin.errors import ProviderRefused
from copilot_admin.models import Conversation, Copilot, Node, Outcome, Run, Turn
from copilot_admin.models.access import EndpointKey
from copilot_admin.telemetry import finished_runs
from copilot_admin.telemetry.finished_runs import FinishedRun
from tests.agent.scripted import ScriptedProvider, Step, broken, text
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
HELLO = {"messages": [{"role": "human", "content": "Hello"}]}
WIDGET = {
    "uuid": "91ae1153-7b4d-451c-adc5-49856e90a0e6",
    "origin": "OpenBB API",
    "widget_id": "stock_price",
    "name": "Stock price",
    "description": "Prices",
    "params": [{"name": "symbol", "type": "string", "current_value": "TSLA"}],
    "metadata": {},
}


def script(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> ScriptedProvider:
    """Lets every provider play these steps."""
    provider = ScriptedProvider(steps)
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    return provider


def post(body: Any, *, path: str = QUERY, **headers: str) -> tuple[int, Any]:
    """Posts raw bytes or JSON where no stream is expected."""

    async def send() -> tuple[int, Any]:
        response = await AsyncClient().post(
            path,
            data=body if isinstance(body, bytes) else json.dumps(body),
            content_type="application/json",
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )
        return response.status_code, json.loads(response.content)

    return async_to_sync(send)()


@pytest.mark.database
def test_an_answer_streams_and_leaves_a_transcript(monkeypatch):
    copilot = make_published(slug="news")
    script(monkeypatch, text("Hel", "lo ", "you."))
    events = read(AsyncClient(), QUERY, HELLO, x_trace_id="chat-1")
    assert "".join(data["delta"] for _, data in events) == "Hello you."
    assert {name for name, _ in events} == {"copilotMessageChunk"}
    run = Run.objects.get()
    conversation = Conversation.objects.get()
    assert (run.outcome, run.finish_reason, run.copilot_version_id) == (
        Outcome.COMPLETED,
        "stop",
        copilot.live_id,
    )
    assert run.ttft_ms is not None
    assert (conversation.trace_id, conversation.title, conversation.n_turns) == (
        "chat-1",
        "Hello",
        1,
    )
    assert list(Node.objects.order_by("depth").values_list("role", "text")) == [
        ("human", "Hello"),
        ("ai", "Hello you."),
    ]


@pytest.mark.database
def test_both_legs_of_a_function_call_are_one_turn(monkeypatch):
    make_published(slug="news", widget_data="fetch", citations="off")
    first = {**HELLO, "widgets": {"primary": [WIDGET], "secondary": [], "extra": []}}
    provider = script(monkeypatch, text("It is 250."))
    ((name, called),) = read(AsyncClient(), QUERY, first, x_trace_id="chat-1")
    source = {"widget_uuid": WIDGET["uuid"], "origin": "OpenBB API", "id": "stock_price"}
    call = {
        "function": "get_widget_data",
        "input_arguments": {"data_sources": [{**source, "input_args": {"symbol": "TSLA"}}]},
    }
    assert (name, called) == ("copilotFunctionCall", {**call, "extra_state": called["extra_state"]})
    form = {"data_type": "object", "parse_as": "table"}
    rows = {"items": [{"content": '[{"symbol": "TSLA", "price": 250}]', "data_format": form}]}
    pair = ({"role": "ai", "content": json.dumps(call)}, {"role": "tool", **called, "data": [rows]})
    second = {**first, "messages": [*first["messages"], *pair]}
    events = read(AsyncClient(), QUERY, second, x_trace_id="chat-1")
    assert "".join(data["delta"] for _, data in events) == "It is 250."
    provider.assert_played()
    assert "250" in str(provider.calls[0].messages)
    turn = Turn.objects.get()
    assert (turn.state, turn.runs.count(), Node.objects.count()) == ("done", 2, 4)


def test_a_refusal_of_the_provider_is_a_warning_and_a_sentence(monkeypatch):
    make_published(slug="news")
    script(monkeypatch, broken(ProviderRefused("The key was refused. Ask an operator.")))
    events = read(AsyncClient(), QUERY, HELLO | {"timezone": "UTC"})
    assert [(name, data.get("eventType")) for name, data in events] == [
        ("copilotStatusUpdate", "WARNING"),
        ("copilotMessageChunk", None),
    ]
    assert events[1][1] == {"delta": "The key was refused. Ask an operator."}
    run = Run.objects.get()
    assert (run.outcome, run.error_code, run.error) == (
        Outcome.FAILED,
        "ProviderRefused",
        "The key was refused. Ask an operator.",
    )


def test_the_model_that_the_client_picked_is_recorded_and_an_unknown_one_noted(monkeypatch):
    choices = [{"id": "small", "name": "Small"}, {"id": "large", "name": "Large"}]
    make_published(slug="news", model="small", model_choices=choices)
    provider = script(monkeypatch, text("1"), text("2"))
    read(AsyncClient(), QUERY, HELLO | {"model": "large"})
    read(AsyncClient(), QUERY, HELLO | {"model": "huge"})
    assert [call.model for call in provider.calls] == ["large", "small"]
    runs = Run.objects.order_by("started_at").values_list("model", "notes")
    note = "The client asked for the unknown model 'huge'; 'small' answers."
    assert list(runs) == [("large", []), ("small", [note])]


def test_an_unknown_a_draft_and_a_disabled_copilot_are_not_found():
    copilot = make_published(slug="news")
    Copilot.objects.filter(pk=copilot.pk).update(enabled=False)
    for slug in ("news", "nobody"):
        status, body = post(HELLO, path=f"/v1/copilots/{slug}/query")
        assert (status, body["code"]) == (404, "not-found")
        assert slug in body["detail"]


class TestAccess:
    @pytest.mark.parametrize("form", ["authorization", "x_api_key"])
    def test_a_good_key_opens_in_either_form(self, form, monkeypatch):
        make_published(slug="news", access="key")
        script(monkeypatch, text("Hi."))
        key, secret = EndpointKey.issue("desk")
        value = f"Bearer {secret}" if form == "authorization" else secret
        read(AsyncClient(), QUERY, HELLO, **{form: value})
        assert Run.objects.get().principal == f"key:{key.pk}"

    def test_a_key_of_another_copilot_is_forbidden(self):
        make_published(slug="news", access="key")
        other = make_published(slug="other")
        key, secret = EndpointKey.issue("desk")
        key.limit_to([other])
        assert post(HELLO, x_api_key=secret)[0] == 403

    def test_a_bad_key_is_refused_even_by_an_open_copilot(self):
        make_published(slug="news")
        assert post(HELLO, x_api_key="cak_wrong")[0] == 401
        assert Client().post(QUERY, headers={"X-API-Key": "no"})["WWW-Authenticate"] == "Bearer"

    @pytest.mark.database
    def test_a_revoked_key_is_refused_at_once(self, monkeypatch):
        make_published(slug="news", access="key")
        script(monkeypatch, text("Hi."))
        key, secret = EndpointKey.issue("desk")
        read(AsyncClient(), QUERY, HELLO, x_api_key=secret)
        key.revoked_at = key.created_at
        key.save()
        assert post(HELLO, x_api_key=secret)[0] == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        *((body, 400) for body in (b"{", b"[NaN]", b"\xff\xfe", b"[" * 100_000)),
        *((body, 422) for body in (b"[]", {}, {"messages": [{"role": "nobody"}]})),
    ],
)
def test_a_bad_body_is_refused_in_words(body, status):
    make_published(slug="news")
    got, answer = post(body)
    assert (got, answer.keys()) == (status, {"detail", "code"})
    assert len(answer["detail"]) > 10
    assert not Run.objects.exists()


@pytest.mark.database
def test_publishing_changes_the_answer_from_the_next_request_on(monkeypatch):
    copilot = make_published(slug="news", model="small")
    provider = script(monkeypatch, text("1"), text("2"), text("3"))
    read(AsyncClient(), QUERY, HELLO)
    copilot.model = "large"
    copilot.save()
    read(AsyncClient(), QUERY, HELLO)
    publish(copilot, user=None)
    read(AsyncClient(), QUERY, HELLO)
    # A new version is a new provider object; the script is shared.
    assert [call.model for call in provider.calls] == ["small", "small", "large"]
    versions = list(Run.objects.order_by("started_at").values_list("copilot_version__number"))
    assert versions == [(1,), (1,), (2,)]


@pytest.mark.parametrize(
    ("body", "is_known", "code"),
    [
        (HELLO, False, "unauthorized"),
        (b"{", True, "malformed-json"),
        ({"messages": []}, True, "messages-empty"),
    ],
)
def test_a_rejected_query_is_reported_with_what_is_known_of_it(monkeypatch, body, is_known, code):
    runs: list[FinishedRun] = []
    monkeypatch.setattr(finished_runs, "LISTENERS", [runs.append])
    make_published(slug="news", access="key")
    key, secret = EndpointKey.issue("desk")
    assert post(body, x_api_key=secret if is_known else "wrong")[1]["code"] == code
    [run] = runs
    assert (run.outcome, run.error_code) == (Outcome.REFUSED, code)
    expected = ("news", 1, f"key:{key.pk}") if is_known else ("", None, "")
    assert (run.copilot, run.version, run.caller) == expected
