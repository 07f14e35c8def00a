"""Each step of the test: when it is good, and what it says of each thing that can go wrong."""

from collections.abc import Mapping
from dataclasses import replace
import json
from typing import Any

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.connection_test import discovery, image, origins
from copilot_admin.connection_test import values as standing
from copilot_admin.connection_test import values as workspace_words
from copilot_admin.connection_test.questions import QUESTION, body_of, question
from copilot_admin.connection_test.steps import TITLES, StepName, run_step
from copilot_admin.connection_test.values import Answer, KeptQuestion, StepVerdict, Unreached
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

AWAY = Unreached("Nothing takes connections there.")
PAGE = Answer(status=200, headers={"content-type": "text/html"}, body=b"<h1>Log in</h1>")
ask_three = question(Generation.THREE)


def moved(status: int = 301) -> Answer:
    return Answer(status=status, headers={"location": "https://elsewhere.example/x"})


def kept(**facts: Any) -> Any:
    async def look(completion_id: str) -> KeptQuestion | None:
        assert completion_id == "c-1"
        return KeptQuestion(**{"outcome": "completed", "error": "", "generation": 3, **facts})

    return look


@pytest.mark.parametrize("name", StepName)
def test_every_step_has_a_title_and_ends_well_where_all_is_well(name: StepName):
    generation = {StepName.TWO: 2, StepName.ONE: 1}.get(name, 3)
    setup = replace(SETUP, kept=kept(generation=generation))
    result = async_to_sync(run_step)(name, setup, Server())
    assert TITLES[name]
    assert (result.verdict, result.workspace, result.mend) == (StepVerdict.GOOD, "", "")


@pytest.mark.parametrize(
    ("facts", "verdict", "sentence"),
    [
        ({}, StepVerdict.GOOD, "It answers everybody: no key is needed."),
        ({"needs_key": True}, StepVerdict.BAD, "It wants a key, and there is none that opens it."),
        (
            {"needs_key": True, "keys": 1},
            StepVerdict.GOOD,
            "It wants a key; one valid key opens it.",
        ),
        ({"needs_key": True, "keys": 3}, StepVerdict.GOOD, "It wants a key; 3 valid keys open it."),
    ],
)
def test_a_key_is_wanted_where_the_copilot_wants_one(facts, verdict, sentence):
    result = done(standing.key, **facts)
    assert (result.verdict, result.sentence) == (verdict, sentence)


def test_a_copilot_that_is_off_is_not_live():
    result = done(standing.live, problem="Switched off.")
    assert (result.verdict, result.sentence) == (
        StepVerdict.BAD,
        "Nobody gets this copilot now. Switched off.",
    )


@pytest.mark.parametrize(
    ("answers", "facts", "verdict", "sentence", "workspace"),
    [
        (
            {"GET /healthz": AWAY},
            {},
            StepVerdict.BAD,
            f"{BASE} is not reached from this machine. Nothing takes connections there.",
            workspace_words.NETWORK,
        ),
        (
            {"GET /healthz": PAGE},
            {},
            StepVerdict.BAD,
            "Another server answers under this address.",
            "",
        ),
        (
            {"GET /healthz": moved()},
            {},
            StepVerdict.BAD,
            "The server sends browsers on to another address: https://elsewhere.example/x",
            workspace_words.CORS,
        ),
        (
            {},
            {"base": "http://copilots.example.com"},
            StepVerdict.BAD,
            "Pages over https, as Workspace is, may not ask a server over plain http.",
            workspace_words.NETWORK,
        ),
        (
            {},
            {"base": "http://127.0.0.1:7777"},
            StepVerdict.WARN,
            "Only a browser on this very machine reaches http://127.0.0.1:7777.",
            "",
        ),
        (
            {},
            {"base": "http://copilots.example.com", "origins": ("http://workspace.local",)},
            StepVerdict.GOOD,
            "http://copilots.example.com reaches this server, in 0 ms.",
            "",
        ),
    ],
)
def test_the_address_is_this_servers_and_browsers_may_use_it(
    answers, facts, verdict, sentence, workspace
):
    alive = Answer(status=200, body=b'{"status": "alive"}')
    others = {f"GET {facts['base']}/healthz": alive} if "base" in facts else {}
    result = done(discovery.address, {**others, **answers}, **facts)
    assert (result.verdict, result.sentence, result.workspace) == (verdict, sentence, workspace)


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
    result = done(discovery.agents, {"GET /agents.json": answer})
    assert (result.verdict, result.sentence, result.workspace, result.details) == (
        StepVerdict.BAD,
        f"The server answered {status}, not 200.",
        said,
        ("<b>Bad gateway</b>",),
    )


@pytest.mark.parametrize(
    ("answer", "sentence", "workspace"),
    [
        (AWAY, f"The server did not reach itself. {AWAY.public}", workspace_words.NETWORK),
        (PAGE, "What came is no JSON.", workspace_words.NO_JSON),
        (
            moved(308),
            "The server sends browsers on to another address: https://elsewhere.example/x",
            workspace_words.CORS,
        ),
        (
            document({"other": ENTRY}),
            "The document does not hold this copilot: Workspace would not show it.",
            "",
        ),
        (document([]), "The document has not the shape that Workspace wants.", None),
        (
            document({"news": {**ENTRY, "features": {"tone": "short"}}}),
            "The document has not the shape that Workspace wants.",
            None,
        ),
        (
            document({"news": ENTRY, "other": {"name": "Without an address", "description": ""}}),
            "The document has not the shape that Workspace wants.",
            None,
        ),
        (
            document({"news": {**ENTRY, "image": "javascript:alert(1)"}}),
            "The document has not the shape that Workspace wants.",
            None,
        ),
    ],
)
@pytest.mark.parametrize("path", ["/agents.json", "/copilots.json"])
def test_what_workspace_would_refuse_of_a_document_is_said(path, answer, sentence, workspace):
    step = discovery.agents if path == "/agents.json" else discovery.copilots
    result = done(step, {f"GET {path}": answer})
    wanted = workspace_words.SCHEMA if workspace is None else workspace
    assert (result.verdict, result.sentence, result.workspace) == (
        StepVerdict.BAD,
        sentence,
        wanted,
    )
    assert result.mend


def test_a_document_with_another_type_is_read_all_the_same():
    answer = document({"news": ENTRY}, **{"content-type": "text/plain; charset=utf-8"})
    result = done(discovery.agents, {"GET /agents.json": answer})
    assert (result.verdict, result.sentence, result.details) == (
        StepVerdict.WARN,
        "It came as “text/plain”, not as JSON.",
        ("1 agent found",),
    )


def test_a_copilot_that_is_not_listed_because_it_is_off_is_mended_there():
    result = done(discovery.agents, {"GET /agents.json": document({})}, problem="Switched off.")
    assert (result.mend, result.details) == ("Switched off.", ("It holds: -",))


@pytest.mark.parametrize(
    "entries",
    [
        {"news": ENTRY, "other": {**ENTRY, "name": "NEWS"}},
        {"news": ENTRY, "NEWS": {**ENTRY, "name": "Another"}},
    ],
)
@pytest.mark.parametrize("path", ["/agents.json", "/copilots.json"])
def test_two_of_one_id_or_name_are_named(path: str, entries: Mapping[str, Any]):
    result = done(discovery.names, {f"GET {path}": document(entries)})
    assert (result.verdict, result.workspace) == (StepVerdict.BAD, workspace_words.CONFLICT)
    assert result.details == tuple(f"{slug}: {one['name']}" for slug, one in entries.items())


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(status=404), "The server answered 404 with “”."),
        (PAGE, "The server answered 200 with “text/html”."),
        (AWAY, AWAY.public),
    ],
)
def test_an_image_that_does_not_load_is_said(answer, why):
    entry = {**ENTRY, "image": "/v1/copilots/news/image"}
    answers = {
        "GET /agents.json": document({"news": entry}),
        "GET /v1/copilots/news/image": answer,
    }
    result = done(image.image, answers)
    assert (result.verdict, result.sentence, result.details) == (
        StepVerdict.WARN,
        f"The image does not load. {why}",
        (f"{BASE}/v1/copilots/news/image",),
    )


def test_what_is_called_an_image_and_is_none_does_not_load():
    answers = {
        "GET /agents.json": document({"news": {**ENTRY, "image": "/i"}}),
        "GET /i": Answer(status=200, headers={"content-type": "image/png"}, body=b"GIF?"),
    }
    result = done(image.image, answers)
    assert result.verdict is StepVerdict.WARN
    assert "This file is no image that can be used." in result.sentence


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "10.1.2.3"])
def test_an_image_elsewhere_is_fetched_as_everything_of_strangers_is(host: str):
    entry = {**ENTRY, "image": f"http://{host}/logo.png"}
    server = Server({"GET /agents.json": document({"news": entry})})
    result = async_to_sync(image.image)(SETUP, server)
    assert (
        result.sentence
        == "The image does not load. The link leads into a private network, from which nothing is "
        "fetched."
    )
    assert [address for _, address, _, _ in server.asked] == [f"{BASE}/agents.json"]


@pytest.mark.parametrize(
    ("answers", "facts", "details"),
    [
        (
            {},
            {"extra_origin": "https://mine.example"},
            ("https://mine.example: it is not an allowed origin.",),
        ),
        (
            {},
            {"headers": ("X-Desk",)},
            (f"{ORIGIN}: may not send x-desk.",),
        ),
        (
            {"OPTIONS /v1/copilots/news/query": Answer(status=405)},
            {},
            (f"{ORIGIN}: OPTIONS is answered with 405.",),
        ),
        (
            {f"GET /agents.json {ORIGIN}": document({})},
            {},
            (f"{ORIGIN}: the answer itself comes without leave to be read.",),
        ),
        (
            {f"GET /agents.json {ORIGIN}": document({}, **{"access-control-allow-origin": ORIGIN})},
            {},
            (f"{ORIGIN}: may not read X-Trace-Id and X-Completion-Id.",),
        ),
        ({"OPTIONS /agents.json": AWAY}, {}, (f"{ORIGIN}: {AWAY.public}",)),
    ],
)
def test_a_page_that_may_not_ask_is_named(answers, facts, details):
    result = done(origins.origins, answers, **facts)
    assert (result.verdict, result.workspace, result.details) == (
        StepVerdict.BAD,
        workspace_words.CORS,
        details,
    )


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
    result = done(origins.origins, answers)
    assert (result.verdict, result.sentence) == (
        StepVerdict.WARN,
        "Pages of any origin may ask this server.",
    )


def test_a_page_asks_first_with_all_that_it_will_send():
    server = Server()
    async_to_sync(origins.origins)(SETUP, server)
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
    async_to_sync(ask_three)(SETUP, server)
    async_to_sync(ask_three)(SETUP, server)
    questions = [row for row in server.asked if row[0] == "POST"]
    assert [address for _, address, _, _ in questions] == [QUERY, QUERY]
    assert json.loads(questions[0][3])["messages"] == [{"role": "human", "content": QUESTION}]
    assert questions[0][2]["X-API-Key"] == "trial_pass"
    assert questions[0][2]["X-Trace-Id"] != questions[1][2]["X-Trace-Id"]


def test_an_answer_is_measured_and_shown_as_text():
    result = done(ask_three)
    assert (result.verdict, result.sentence, result.details) == (
        StepVerdict.GOOD,
        "It answered, and the stream was read to its end.",
        ("First event after 5 ms, the last after 20 ms; 2 events.", "I know news."),
    )


REFUSED = Answer(status=403, body=b'{"detail": "Not for you.", "code": "forbidden"}')
CUT = Answer(
    status=200,
    headers={"content-type": "text/event-stream"},
    body=ANSWER.body + b'event: copilotMessageChunk\ndata: {"del',
)


@pytest.mark.parametrize(
    ("answer", "sentence", "details"),
    [
        (AWAY, f"No whole answer came. {AWAY.public}", ()),
        (REFUSED, "The question was refused with 403.", ("Not for you.",)),
        (
            PAGE,
            "The answer came as “text/html”, not as a stream of events.",
            ("<h1>Log in</h1>",),
        ),
        (CUT, "The stream ends in the middle of an event, which Workspace throws away.", ()),
        (stream(), "The stream ended without an event.", ()),
        (
            stream(("message", {})),
            "The stream has events that this generation does not know.",
            ("message",),
        ),
        (moved(307), "The question was refused with 307.", ()),
    ],
)
def test_what_workspace_would_choke_on_is_said(answer, sentence, details):
    result = done(ask_three, {"POST /v1/copilots/news/query": answer})
    assert (result.verdict, result.sentence, result.details) == (StepVerdict.BAD, sentence, details)
    assert result.mend


def test_an_event_that_is_no_json_ends_the_answer():
    broken = Answer(
        status=200,
        headers={"content-type": "text/event-stream"},
        body=b"event: copilotMessageChunk\ndata: {\n\n",
    )
    result = done(ask_three, {"POST /v1/copilots/news/query": broken})
    assert result.sentence == (
        "An event of the stream cannot be read; Workspace ends the answer there."
    )


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            {"outcome": "failed", "error": "The provider is away."},
            "The copilot could not answer. The provider is away.",
        ),
        ({"outcome": "truncated"}, "The copilot could not answer. truncated"),
        ({"generation": 1}, "The question was read as one of generation 1."),
    ],
)
def test_an_answer_that_only_says_why_there_is_none_is_none(facts, sentence):
    result = done(ask_three, kept=kept(**facts))
    assert (result.verdict, result.sentence) == (StepVerdict.BAD, sentence)


def test_an_answer_of_another_server_is_found_out():
    async def nothing(completion_id: str) -> KeptQuestion | None:
        return None

    result = done(ask_three, kept=nothing)
    assert result.sentence == "An answer came, but this server has no transcript of it."


def test_an_answer_that_came_all_at_once_was_held_back():
    words = ("copilotMessageChunk", {"delta": "Hi."})
    held = stream(words, ms=3000, first_ms=2990)
    flowing = stream(words, ms=3000, first_ms=400)
    slow = {"POST /v1/copilots/news/query": held}
    assert done(ask_three, slow).sentence == ("The answer came all at once, when it was complete.")
    assert done(ask_three, {"POST /v1/copilots/news/query": flowing}).verdict is StepVerdict.GOOD
