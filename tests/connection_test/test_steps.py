"""Each step: when it passes, warns or fails, and which message of Workspace it shows."""

from collections.abc import Mapping
from dataclasses import replace
import json
from typing import Any

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.questions import QUESTION, body_of
from copilot_admin.connection_test.steps import TITLES, StepName, run_step
from copilot_admin.connection_test.values import Answer, StepVerdict, Unreached
from copilot_admin.models import Run
from protocol.models import Generation
from protocol.parsing import parse_query
from tests.connection_test.asked import (
    ANSWER,
    BASE,
    ENTRY,
    ORIGIN,
    QUERY,
    SETUP,
    Server,
    document,
    done,
    stream,
)

GOOD, WARN, BAD = StepVerdict
AWAY = Unreached("Nothing takes connections there.")
PAGE = Answer(status=200, headers={"content-type": "text/html"}, body=b"<h1>Log in</h1>")


def moved(status: int = 301) -> Answer:
    return Answer(status=status, headers={"location": "https://elsewhere.example/x"})


def kept(**facts: Any) -> Any:
    async def look(completion_id: str) -> Run | None:
        assert completion_id == "c-1"
        return Run(**{"outcome": "completed", **facts})

    return look


@pytest.mark.parametrize("name", StepName)
def test_every_step_has_a_title_and_ends_well_where_all_is_well(name: StepName):
    generation = {StepName.TWO: 2, StepName.ONE: 1}.get(name, 3)
    setup = replace(SETUP, load_run=kept(generation=generation))
    result = async_to_sync(run_step)(name, setup, Server())
    assert TITLES[name]
    assert (result.verdict, result.workspace, result.fix) == (GOOD, "", "")


@pytest.mark.parametrize(("keys", "verdict"), [(0, BAD), (1, GOOD)])
def test_a_key_must_exist_if_one_is_required(keys, verdict):
    assert done(StepName.KEY, needs_key=True, keys=keys).verdict is verdict


def test_a_disabled_copilot_is_not_available():
    result = done(StepName.LIVE, problem="Switched off.")
    assert result.verdict is BAD and "Switched off." in result.sentence


@pytest.mark.parametrize(
    ("answers", "facts", "verdict", "workspace"),
    [
        ({"GET /healthz": AWAY}, {}, BAD, workspace_words.NETWORK),
        ({"GET /healthz": PAGE}, {}, BAD, ""),
        ({"GET /healthz": moved()}, {}, BAD, workspace_words.CORS),
        ({}, {"base": "http://copilots.example.com"}, BAD, workspace_words.NETWORK),
        ({}, {"base": "http://127.0.0.1:7777"}, WARN, ""),
    ],
)
def test_the_url_reaches_this_server_and_browsers_can_use_it(answers, facts, verdict, workspace):
    alive = Answer(status=200, body=b'{"status": "alive"}')
    others = {f"GET {facts['base']}/healthz": alive} if "base" in facts else {}
    result = done(StepName.ADDRESS, {**others, **answers}, **facts)
    assert (result.verdict, result.workspace) == (verdict, workspace)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "Unauthorized access to the copilot URL."),
        (404, "A valid /agents.json was not found."),
        (500, "Internal server error."),
        (502, "Unknown error occurred while validating URL."),
    ],
)
def test_a_status_is_said_in_workspaces_words(status: int, said: str):
    answer = Answer(status=status, body=b"<b>Bad gateway</b>")
    result = done(StepName.AGENTS, {"GET /agents.json": answer})
    assert (result.verdict, result.workspace) == (BAD, said)
    assert result.details == ("<b>Bad gateway</b>",)


@pytest.mark.parametrize(
    ("answer", "workspace"),
    [
        (AWAY, workspace_words.NETWORK),
        (PAGE, workspace_words.NO_JSON),
        (moved(308), workspace_words.CORS),
        (document({"other": ENTRY}), ""),
        (document([]), workspace_words.SCHEMA),
        (document({"news": {**ENTRY, "features": {"tone": "short"}}}), workspace_words.SCHEMA),
        (document({"news": {**ENTRY, "image": "javascript:alert(1)"}}), workspace_words.SCHEMA),
    ],
)
@pytest.mark.parametrize("path", ["/agents.json", "/copilots.json"])
def test_a_document_that_workspace_would_reject_fails(path, answer, workspace):
    step = StepName.AGENTS if path == "/agents.json" else StepName.COPILOTS
    result = done(step, {f"GET {path}": answer})
    assert (result.verdict, result.workspace, bool(result.fix)) == (BAD, workspace, True)


def test_a_document_with_another_content_type_is_a_warning():
    answer = document({"news": ENTRY}, **{"content-type": "text/plain; charset=utf-8"})
    assert done(StepName.AGENTS, {"GET /agents.json": answer}).verdict is WARN


@pytest.mark.parametrize(
    "entries",
    [
        {"news": ENTRY, "other": {**ENTRY, "name": "NEWS"}},
        {"news": ENTRY, "NEWS": {**ENTRY, "name": "Another"}},
    ],
)
@pytest.mark.parametrize("path", ["/agents.json", "/copilots.json"])
def test_two_of_one_id_or_name_are_named(path: str, entries: Mapping[str, Any]):
    result = done(StepName.NAMES, {f"GET {path}": document(entries)})
    assert (result.verdict, result.workspace) == (BAD, workspace_words.CONFLICT)
    assert result.details == tuple(f"{slug}: {one['name']}" for slug, one in entries.items())


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=404),
        PAGE,
        AWAY,
        Answer(status=200, headers={"content-type": "image/png"}, body=b"GIF?"),
    ],
)
def test_an_image_that_does_not_load_is_a_warning(answer):
    entry = {**ENTRY, "image": "/v1/copilots/news/image"}
    answers = {
        "GET /agents.json": document({"news": entry}),
        "GET /v1/copilots/news/image": answer,
    }
    result = done(StepName.IMAGE, answers)
    assert (result.verdict, result.details) == (WARN, (f"{BASE}/v1/copilots/news/image",))


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "10.1.2.3"])
def test_an_image_elsewhere_is_fetched_as_everything_of_strangers_is(host: str):
    entry = {**ENTRY, "image": f"http://{host}/logo.png"}
    server = Server({"GET /agents.json": document({"news": entry})})
    result = async_to_sync(run_step)(StepName.IMAGE, SETUP, server)
    assert result.verdict is WARN
    assert [address for _, address, _, _ in server.asked] == [f"{BASE}/agents.json"]


NOT_ALLOWED = document({}, **{"access-control-allow-origin": ORIGIN})


@pytest.mark.parametrize(
    ("answers", "facts", "origin"),
    [
        ({}, {"extra_origin": "https://mine.example"}, "https://mine.example"),
        ({}, {"headers": ("X-Desk",)}, ORIGIN),
        ({"OPTIONS /v1/copilots/news/query": Answer(status=405)}, {}, ORIGIN),
        ({f"GET /agents.json {ORIGIN}": document({})}, {}, ORIGIN),
        ({f"GET /agents.json {ORIGIN}": NOT_ALLOWED}, {}, ORIGIN),
        ({"OPTIONS /agents.json": AWAY}, {}, ORIGIN),
    ],
)
def test_a_page_that_may_not_ask_is_named(answers, facts, origin):
    result = done(StepName.ORIGINS, answers, **facts)
    assert (result.verdict, result.workspace) == (BAD, workspace_words.CORS)
    (detail,) = result.details
    assert detail.startswith(f"{origin}:")


def test_a_proxy_that_lets_everybody_ask_is_said():
    open_door = {
        "access-control-allow-origin": "*",
        "access-control-allow-headers": "content-type, x-trace-id, authorization, x-api-key",
        "access-control-expose-headers": "x-trace-id, x-completion-id",
    }
    allowed = Answer(status=204, headers=open_door)
    answers = {
        "OPTIONS /agents.json": allowed,
        "OPTIONS /v1/copilots/news/query": allowed,
        "GET /agents.json": document({"news": ENTRY}, **open_door),
    }
    result = done(StepName.ORIGINS, answers)
    assert result.verdict is WARN


def test_a_page_asks_first_with_all_that_it_will_send():
    server = Server()
    async_to_sync(run_step)(StepName.ORIGINS, SETUP, server)
    asked = [
        (address.removeprefix(BASE), headers["Access-Control-Request-Method"])
        for method, address, headers, _ in server.asked
        if method == "OPTIONS" and headers["Origin"] == ORIGIN
    ]
    assert asked == [("/agents.json", "GET"), ("/v1/copilots/news/query", "POST")]
    assert server.asked[0][2]["Access-Control-Request-Headers"] == (
        "authorization,content-type,x-api-key,x-trace-id"
    )


@pytest.mark.parametrize("generation", Generation)
def test_a_first_question_is_read_as_one_of_its_generation(generation: Generation):
    hint = None if generation is Generation.THREE else Generation.TWO
    query = parse_query(body_of(generation), hint=hint)
    assert (query.generation, query.notes) == (generation, ())


def test_a_question_goes_where_the_document_says_with_an_id_of_its_own():
    server = Server()
    async_to_sync(run_step)(StepName.THREE, SETUP, server)
    async_to_sync(run_step)(StepName.THREE, SETUP, server)
    questions = [row for row in server.asked if row[0] == "POST"]
    assert [address for _, address, _, _ in questions] == [QUERY, QUERY]
    assert json.loads(questions[0][3])["messages"] == [{"role": "human", "content": QUESTION}]
    assert questions[0][2]["X-API-Key"] == "trial_pass"
    assert questions[0][2]["X-Trace-Id"] != questions[1][2]["X-Trace-Id"]


def test_an_answer_is_measured_and_shown_as_text():
    result = done(StepName.THREE)
    assert (result.verdict, result.details[1]) == (GOOD, "I know news.")
    assert "5 ms" in result.details[0] and "20 ms" in result.details[0]


REFUSED = Answer(status=403, body=b'{"detail": "Not for you.", "code": "forbidden"}')
CUT = replace(ANSWER, body=ANSWER.body + b'event: copilotMessageChunk\ndata: {"del')
NO_JSON = replace(ANSWER, body=b"event: copilotMessageChunk\ndata: {\n\n")


@pytest.mark.parametrize(
    ("answer", "details"),
    [
        (AWAY, ()),
        (REFUSED, ("Not for you.",)),
        (PAGE, ("<h1>Log in</h1>",)),
        (CUT, ()),
        (NO_JSON, None),
        (stream(), ()),
        (stream(("message", {})), ("message",)),
        (moved(307), ()),
    ],
)
def test_an_answer_that_workspace_could_not_read_fails(answer, details):
    result = done(StepName.THREE, {"POST /v1/copilots/news/query": answer})
    assert (result.verdict, bool(result.fix)) == (BAD, True)
    assert details is None or result.details == details


@pytest.mark.parametrize(
    "facts",
    [
        {"outcome": "failed", "error": "The provider is away."},
        {"outcome": "truncated"},
        {"generation": 1},
    ],
)
def test_an_answer_of_a_run_that_failed_fails(facts):
    result = done(StepName.THREE, load_run=kept(**facts))
    assert result.verdict is BAD and facts.get("error", "") in result.sentence


def test_an_answer_of_another_server_fails():
    async def nothing(completion_id: str) -> Run | None:
        return None

    assert done(StepName.THREE, load_run=nothing).verdict is BAD


def test_a_buffered_answer_is_a_warning():
    words = ("copilotMessageChunk", {"delta": "Hi."})
    held = stream(words, ms=3000, first_ms=2990)
    flowing = stream(words, ms=3000, first_ms=400)
    assert done(StepName.THREE, {"POST /v1/copilots/news/query": held}).verdict is WARN
    assert done(StepName.THREE, {"POST /v1/copilots/news/query": flowing}).verdict is GOOD
