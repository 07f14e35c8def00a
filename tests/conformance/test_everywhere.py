"""Expectations of every template alike: discovery, methods, and questions that come again."""

import json
from typing import Any

import pytest

from copilot_admin.import_export.templates import templates
from copilot_admin.models import Outcome, Run, Turn
from protocol.models import Generation
from tests.conformance.strangers import NEWS, PRICE, asks, import_template, offered, widgets
from tests.wire import Line
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import ModelServer, calls, says

pytestmark = pytest.mark.django_db(transaction=True)

ORIGIN = "https://pro.openbb.co"
FLAGS = {
    "streaming", "widget-dashboard-select", "widget-dashboard-search", "widget-global-search",
    "file-upload", "generative-ui", "mcp-tools", "feedback",
}  # fmt: skip
READERS = [slug for slug, one in templates().items() if one.entry["widget_data"] != "off"]


def test_agents_json_describes_each_as_workspace_wants_it(service_url, model):
    for slug in templates():
        import_template(slug, model)
    with Line(f"{service_url}/agents.json", method="GET", headers={"Origin": ORIGIN}) as line:
        agents = json.loads(line.read_all())
    assert line.headers["access-control-allow-origin"] == ORIGIN
    assert set(agents) == set(templates())
    for slug, agent in agents.items():
        entry = templates()[slug].entry
        assert (agent["name"], agent["description"]) == (entry["name"], entry["description"])
        assert agent["endpoints"]["query"] == f"{service_url}/v1/copilots/{slug}/query"
        assert set(agent["features"]) >= FLAGS
        on = {key for key in FLAGS if agent["features"][key] is True}
        assert on == {"streaming", *entry.get("features", {})} & FLAGS
        # A value of another type would make Workspace refuse the whole document.
        assert all(isinstance(value, bool | dict) for value in agent["features"].values())


@pytest.mark.parametrize("slug", READERS)
def test_a_client_that_forgets_the_call_is_not_driven_in_circles(slug, chat_with):
    """A client drops call and result in some cases, and then sends its question again."""
    ask = calls("get_widget_data", widgets=[{"id": NEWS["uuid"]}])
    asks = templates()[slug].entry["widget_data"] == "ask"
    script = [ask, ask, says("Without it.")] if asks else [says("Without it.")]
    stranger = chat_with(slug, *script)
    stranger.chat.messages = [{"role": "human", "content": "What is new?"}]
    stranger.chat.request = widgets(NEWS)
    first: Any = stranger.chat.post()
    assert first[-1][0] == "copilotFunctionCall"
    again: Any = stranger.chat.post()
    assert "copilotFunctionCall" not in dict(again)
    [warning] = [data for name, data in again if data.get("eventType") == "WARNING"]
    assert warning["message"].startswith("The dashboard sent the question again without the data")
    assert text_of(again).endswith("Without it.")
    assert [run.outcome for run in Run.objects.all()] == [Outcome.COMPLETED] * 2


LOOPED = "The dashboard sent the question again without the data it was asked for"


def ask_about(service: str, generation: Generation, *selected: Any, **more: Any) -> list[Event]:
    """Ask a first question about widgets, as a client of a generation does."""
    question = {"messages": [{"role": "human", "content": "What moved?"}], **more}
    return asks(service, "widget-reader", {**question, **offered(generation, *selected)})


def fetched(events: list[Event]) -> Any:
    [call] = named(events, "copilotFunctionCall")
    arguments = call["input_arguments"]
    return arguments.get("widget_uuid") or [one["id"] for one in arguments["data_sources"]]


@pytest.mark.parametrize("generation", Generation)
def test_another_widget_is_another_question(generation, service_url, model):
    import_template("widget-reader", model)
    first = fetched(ask_about(service_url, generation, NEWS))
    second = fetched(ask_about(service_url, generation, PRICE))
    by_uuid = (NEWS["uuid"], PRICE["uuid"])
    assert (first, second) == (
        by_uuid if generation is Generation.ONE else (["company_news"], ["stock_price"])
    )


@pytest.mark.parametrize("generation", Generation)
def test_a_loop_is_still_stopped(generation, service_url, model):
    import_template("widget-reader", model)
    model.plays(says("Without it."))
    ask_about(service_url, generation, NEWS)
    again = ask_about(service_url, generation, NEWS)
    assert text_of(again).startswith(LOOPED)
    assert text_of(again).endswith("Without it.")


def test_a_client_that_drops_the_data_is_stopped_though_it_repeats_less(chat_with):
    """Source: a request after a function call comes without timezone, urls and chosen skills."""
    stranger = chat_with("widget-reader", says("Without it."))
    stranger.chat.request = {"widgets": {"primary": [NEWS]}}
    stranger.chat.messages.append({"role": "human", "content": "What moved?"})
    stranger.chat.request = {**stranger.chat.request, "urls": ["https://example.com/a"]}
    stranger.chat.post()
    assert text_of(stranger.chat.post(is_first=False)).startswith(LOOPED)


HEADERS = {"Origin": "https://pro.openbb.co"}


@pytest.mark.parametrize("name", ["agents.json", "copilots.json"])
def test_discovery_is_found_with_a_slash_too_many(name, service_url, model: ModelServer):
    """Workspace asks for `//agents.json` where its user ended the base URL with a slash."""
    import_template("prompt-optimizer", model)
    url = f"{service_url}//{name}"
    with Line(url, method="GET", headers=HEADERS) as line:
        document = json.loads(line.read_all())
    assert line.status == 200
    assert line.headers["access-control-allow-origin"] == HEADERS["Origin"]
    query = document["prompt-optimizer"]["endpoints"]["query"]
    assert query.startswith(f"{service_url}/v1/copilots/prompt-optimizer/query")


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("/v1/copilots/prompt-optimizer/query", "GET", "POST"),
        ("/v1/copilots/prompt-optimizer/query", "PROPFIND", "POST"),
        ("/v1/copilots/prompt-optimizer/image", "DELETE", "GET, HEAD"),
        ("/agents.json", "POST", "GET, HEAD"),
    ],
)
def test_another_method_is_refused_in_words_that_programs_read(path, method, allowed, service_url):
    with Line(f"{service_url}{path}", method=method, headers=HEADERS) as line:
        told = json.loads(line.read_all())
    assert line.status == 405
    assert told == {
        "detail": f"{method} is not served here. Send {allowed.replace(', ', ' or ')}.",
        "code": "wrong-method",
    }
    assert line.headers["content-type"].startswith("application/json")
    assert line.headers["allow"] == allowed
    assert line.headers["access-control-allow-origin"] == HEADERS["Origin"]


def journaled(*outcomes: str) -> None:
    """Makes sure that every leg is a run of the one turn, with these outcomes."""
    runs = list(Run.objects.order_by("started_at"))
    assert [run.outcome for run in runs] == list(outcomes)
    assert {run.turn for run in runs} == {Turn.objects.get()}


def test_a_widget_that_there_is_not_is_told_to_the_model_with_those_there_are(chat_with, model):
    unknown = "00000000-0000-4000-8000-000000000000"
    stranger = chat_with(
        "charts", calls("get_widget_data", widgets=[{"id": unknown}]), says("I do not have it.")
    )
    [events] = stranger.asks("Draw it.", **widgets(NEWS))
    assert text_of(events) == "I do not have it."
    told = f"There is no widget with the id '{unknown}'. Offered ids: {NEWS['uuid']}."
    assert model.requests[1]["messages"][-1]["content"] == told
    journaled(Outcome.COMPLETED)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (
            [{"error_type": "gateway_error", "content": "hit '/news' and returned HTTP 502."}],
            "(error gateway_error: hit '/news' and returned HTTP 502.)",
        ),
        ([{"error_type": "not_found"}], "(error not_found: no reason given)"),
        ([{"items": [], "extra_citations": []}], "(nothing: the source returned no data)"),
        (
            [{"items": [{"content": "", "data_format": {}}]}],
            "(nothing: the source returned no data)",
        ),
        ([], "(no result)"),
        (None, "(no result)"),
        ("nonsense", "nonsense"),
    ],
    ids=["error", "error without words", "no items", "no content", "no data", "null", "text"],
)
def test_errors_and_empty_results_are_told_to_the_model_in_words(result, told, chat_with, model):
    stranger = chat_with("widget-reader", says("It could not be had."))
    _, second = stranger.asks("?", functions={"get_widget_data": lambda _: result}, **widgets(NEWS))
    assert second == [("copilotMessageChunk", {"delta": "It could not be had."})]
    assert told in model.told()
    journaled(Outcome.COMPLETED, Outcome.COMPLETED)


ROWS = [{"day": "Mon", "price": 1.5}]
CHART: dict[str, Any] = {"name": "P", "description": "", "type": "line", "rows": ROWS, "x": "day",
                         "y": ["price"]}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "states", "notes"),
    [
        (
            {"deep-research": "yes", "tone": "medium", "house-view": True},
            ("❌ Disabled", "short", "unknown"),
            [
                "The client sent 'yes' for the option 'deep-research', which is no value of this "
                "toggle; its default False is used.",
                "The client sent 'medium' for the option 'tone', which is no value of this select; "
                "its default 'short' is used.",
                "The client sent 'True' for the option 'house-view', which is no value of this "
                "text; its default '' is used.",
            ],
        ),
        (
            {"tone": 7},
            ("❌ Disabled", "short", "unknown"),
            ["`workspace_options.tone` is not true or text and was left out."],
        ),
        (
            7,
            ("❌ Disabled", "short", "unknown"),
            ["`workspace_options` is not an object or a list and was left out."],
        ),
    ],
    ids=["wrong values", "a number", "no options"],
)
def test_options_of_a_wrong_type_take_their_defaults_and_the_run_says_so(
    options, states, notes, chat_with, model
):
    stranger = chat_with("custom-options", says("Fine."))
    [events] = stranger.asks("Settings?", workspace_options=options)
    research, tone, view = states
    assert f"Deep Research: {research}\n" in model.system()
    assert f"Tone of the answer: {tone}. House view: {view}." in model.system()
    assert text_of(events) == "Fine."
    assert Run.objects.get().notes == notes
